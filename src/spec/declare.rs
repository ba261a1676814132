//! The `declare` section of a spec: types with a layout, from which nodes and tags are made.

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::place::SpecPath;
use crate::declare::{
    Declarations, DeclareError, Member, MemberType, Policy, Record, RecordKind, ScalarLayout,
    Target,
};
use crate::nearest::suggestion;

/// The types of a runtime, declared as in its C headers. Nodes and tags are made from them. The
/// name of a tag is its path, such as `CallInfo.l.base`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Declare", deny_unknown_fields)]
pub struct DeclareDecl {
    /// The name of a preset, such as `x86-64`, or a data layout string.
    pub target: String,
    /// The policy that determines how types become nodes.
    pub policy: Policy,
    /// True if the types are from C++.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cplusplus: bool,
    /// The name of the root. The default is the name that clang uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The types. Each must be declared before it is used, except behind a pointer.
    pub types: Vec<DeclaredType>,
    /// Paths whose tags are added to those of the spec. Tags of paths in expectations follow them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A declared type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum DeclaredType {
    /// A scalar type that the runtime defines in addition to those of C.
    Scalar {
        /// The name.
        name: String,
        /// The size in bytes.
        size: u64,
        /// The alignment in bytes. The default is the size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<u64>,
        /// The parent in the type tree: a scalar whose accesses may alias those of this one. The
        /// default is `char`, which aliases everything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// An enum, whose values have an integer type.
    Enum {
        /// The name.
        name: String,
        /// The integer type, which in C is mostly `unsigned int`.
        integer: String,
    },
    /// Another name for a type, as a typedef gives it.
    Alias {
        /// The name.
        name: String,
        /// The type.
        ty: String,
    },
    /// A struct.
    Struct(RecordDecl),
    /// A union.
    Union(RecordDecl),
}

/// A struct or union.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordDecl {
    /// The name of the type. If the record is declared as a member, it is the name of the member,
    /// which is empty for an anonymous member.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The members, in order.
    pub members: Vec<MemberDecl>,
    /// The array dimensions, outermost first, if the record is declared as a member.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub array: Vec<u64>,
    /// True if the member is a flexible array of the record, or of arrays of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flexible: bool,
    /// True if there is no padding between the members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packed: bool,
    /// The largest alignment of a member in bytes, as in `#pragma pack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<u64>,
    /// The smallest alignment of the record, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<u64>,
    /// The expected size in bytes. Another size is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The expected offset in bytes, if the record is declared as a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// True if accesses to the members may alias everything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_alias: bool,
    /// True if the member is never modified while it can be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub immutable: bool,
}

/// A member of a struct or union.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum MemberDecl {
    /// A member's name, and its type as in C: `Field("array", "TValue *")`.
    Field(String, String),
    /// The name, type and width of a bit-field.
    Bits(String, String, u32),
    /// A base class, given by its name.
    Base(String),
    /// A member whose type is a struct that is declared here.
    Struct(RecordDecl),
    /// A member whose type is a union that is declared here.
    Union(RecordDecl),
    /// A member that has more properties.
    Member {
        /// The name.
        name: String,
        /// The type.
        ty: String,
        /// The width in bits, for a bit-field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bits: Option<u32>,
        /// The expected offset in bytes. Another offset is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
        /// The expected offset of a bit-field, in bits. Another offset is an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_bit: Option<u64>,
        /// The smallest alignment, in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<u64>,
        /// True if there is no padding before the member.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        packed: bool,
        /// True if the member is never modified while it can be read.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        immutable: bool,
        /// True if the member is a base class. Its name is empty.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        base: bool,
    },
}

impl RecordDecl {
    /// Returns the record in the form that [`Declarations`] uses.
    pub fn record(&self, kind: RecordKind) -> Record {
        self.named(&self.name, kind)
    }

    fn named(&self, name: &str, kind: RecordKind) -> Record {
        let record = match kind {
            RecordKind::Struct => Record::structure(name),
            RecordKind::Union => Record::union(name),
        };
        let mut record = self.members.iter().map(MemberDecl::member).fold(record, Record::member);
        record = self.pack.into_iter().fold(record, Record::pack);
        record = self.align.into_iter().fold(record, Record::align);
        record = self.size.into_iter().fold(record, Record::size);
        if self.packed {
            record = record.packed();
        }
        if self.may_alias { record.may_alias() } else { record }
    }

    fn in_place(&self, kind: RecordKind) -> Member {
        let member = Member::new(&*self.name, self.named("", kind));
        let member = self.at.into_iter().fold(member, Member::at);
        // 1,000 dimensions are refused as too many, so more need not be built.
        let lens = self.array.iter().rev().take(1000);
        let member = lens.fold(member, |member, &len| member.array(len));
        let member = if self.flexible { member.array(None) } else { member };
        if self.immutable { member.immutable() } else { member }
    }
}

impl MemberDecl {
    fn member(&self) -> Member {
        match self {
            MemberDecl::Field(name, ty) => Member::new(&**name, &**ty),
            MemberDecl::Bits(name, ty, width) => Member::new(&**name, &**ty).bits(*width),
            MemberDecl::Base(ty) => Member::base(MemberType::from(&**ty)),
            MemberDecl::Struct(record) => record.in_place(RecordKind::Struct),
            MemberDecl::Union(record) => record.in_place(RecordKind::Union),
            MemberDecl::Member { name, ty, bits, at, at_bit, align, packed, immutable, base } => {
                let mut member = match base {
                    true => Member::base(MemberType::from(&**ty)),
                    false => Member::new(&**name, &**ty),
                };
                member = at.iter().copied().fold(member, Member::at);
                member = at_bit.iter().copied().fold(member, Member::at_bit);
                member = align.iter().copied().fold(member, Member::align);
                member = bits.iter().copied().fold(member, Member::bits);
                if *packed {
                    member = member.packed();
                }
                if *immutable { member.immutable() } else { member }
            }
        }
    }
}

impl DeclaredType {
    fn declare(&self, types: &mut Declarations) -> Result<(), DeclareError> {
        // A spec must not declare a type twice.
        let mut once = |record: &RecordDecl, kind| {
            let of_member = record.flexible || record.immutable || record.at.is_some();
            if of_member || !record.array.is_empty() {
                return Err(DeclareError::Invalid {
                    place: record.name.clone(),
                    reason: "only a member has `array`, `flexible`, `at` or `immutable`",
                });
            }
            let known = types.named(&record.name).filter(|&ty| types.size_of(ty).is_some());
            match known {
                Some(first) => Err(DeclareError::Redefined { name: record.name.clone(), first }),
                None => types.define(record.record(kind)),
            }
        };
        match self {
            DeclaredType::Struct(record) => once(record, RecordKind::Struct),
            DeclaredType::Union(record) => once(record, RecordKind::Union),
            DeclaredType::Scalar { name, size, align, parent } => {
                let parent = parent.as_deref().unwrap_or("char");
                let layout = ScalarLayout { size: *size, align: align.unwrap_or(*size) };
                types.scalar(&**name, layout, parent)
            }
            DeclaredType::Enum { name, integer } => types.enumeration(name, integer),
            DeclaredType::Alias { name, ty } => types.alias(name, ty),
        }
        .map(drop)
    }
}

impl DeclareDecl {
    /// Declares the types, and returns all declarations.
    ///
    /// # Errors
    ///
    /// [`SpecError`], with the path of the target or type.
    pub fn declare(&self) -> Result<Declarations, SpecError> {
        let target = Target::by_name(&self.target)
            .map_or_else(|| self.target.parse().map(Target::from_data_layout), Ok);
        let target = target.map_err(|error| {
            let hint = suggestion(&self.target, Target::names(), &error.to_string());
            let message = format!("no target {:?}{hint}", self.target);
            SpecError::new(SpecPath::list("declare").field("target"), message)
        })?;
        let mut types = match self.cplusplus {
            true => Declarations::cplusplus(target),
            false => Declarations::new(target),
        };
        if let Some(root) = &self.root {
            types = types.with_root(&**root);
        }
        for (index, ty) in self.types.iter().enumerate() {
            let place = || SpecPath::list("declare").field("types").item(index);
            ty.declare(&mut types).map_err(|error| SpecError::new(place(), error.to_string()))?;
        }
        Ok(types)
    }
}
