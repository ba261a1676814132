//! Types declared with a layout in a spec, instead of nodes.

use serde::{Deserialize, Serialize};

use super::SpecError;
use super::place::SpecPath;
use crate::declare::{
    Declarations, DeclareError, Member, MemberType, Policy, Record, RecordKind, ScalarLayout,
    Target,
};
use crate::nearest::suggestion;

/// The types of a runtime as its C headers declare them. Nodes and tags follow from them. A tag is
/// named by its path, such as `CallInfo.l.base`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename = "Declare", deny_unknown_fields)]
pub struct DeclareDecl {
    /// A preset, such as `x86-64`, or a data layout string.
    pub target: String,
    /// The policy by which types become nodes.
    pub policy: Policy,
    /// True if the types are C++'s.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cplusplus: bool,
    /// The name of the root; that of clang when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The types. A type must come before its use, except behind a pointer.
    pub types: Vec<DeclaredType>,
    /// Paths whose tags are added to the spec's, before the paths that expectations name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// A declared type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum DeclaredType {
    /// A scalar that the runtime defines, in addition to C's.
    Scalar {
        /// The name.
        name: String,
        /// The size in bytes.
        size: u64,
        /// The alignment in bytes; the size when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<u64>,
        /// The parent in the type tree: a scalar whose accesses may alias this one's. `char`, which
        /// aliases everything, when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// An enum with values of an integer type.
    Enum {
        /// The name.
        name: String,
        /// The integer type; in C mostly `unsigned int`.
        integer: String,
    },
    /// One more name for a type: a typedef.
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
    /// The name of the type. If the record is declared in place, the name of the member, or empty
    /// for an anonymous member.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The members, in order.
    pub members: Vec<MemberDecl>,
    /// The array dimensions of a member that is declared in place, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub array: Vec<u64>,
    /// True if the record, with the dimensions in `array`, is the element of a flexible array.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flexible: bool,
    /// True if there is no padding between members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packed: bool,
    /// The largest alignment of a member, in bytes: `#pragma pack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pack: Option<u64>,
    /// The least alignment of the whole, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<u64>,
    /// The size in bytes, to be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The offset in bytes, to be checked, of a member that is declared in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
    /// True if accesses to members may alias everything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_alias: bool,
}

/// A member of a struct or union.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum MemberDecl {
    /// A member's name and its type as C writes it: `Field("array", "TValue *")`.
    Field(String, String),
    /// A bit-field: its name, type and width.
    Bits(String, String, u32),
    /// A base class.
    Base(String),
    /// A struct that is declared in place.
    Struct(RecordDecl),
    /// A union that is declared in place.
    Union(RecordDecl),
    /// A member with more properties.
    Member {
        /// The name.
        name: String,
        /// The type.
        ty: String,
        /// The width of a bit-field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bits: Option<u32>,
        /// The offset in bytes, to be checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<u64>,
        /// The offset of a bit-field in bits, to be checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_bit: Option<u64>,
        /// The least alignment in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<u64>,
        /// True if there is no padding in front of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        packed: bool,
        /// True if it is never modified while it can be read.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        immutable: bool,
    },
}

impl RecordDecl {
    /// Returns the record as the library declares it.
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
        let member = self.array.iter().rev().fold(member, |member, &len| member.array(len));
        if self.flexible { member.array(None) } else { member }
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
            MemberDecl::Member { name, ty, bits, at, at_bit, align, packed, immutable } => {
                let mut member = Member::new(&**name, &**ty);
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
        // A spec may declare each type only once.
        let mut once = |record: &RecordDecl, kind| {
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
    /// Declares the types.
    ///
    /// # Errors
    ///
    /// [`SpecError`], with the place of the target or type.
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
