//! Descriptions of structs and unions, which `Declarations::define` checks and declares.

use super::{DeclId, ScalarLayout};

/// A struct or union that [`Declarations::define`] can declare.
///
/// Types are written as in C: `"unsigned char"`, `"TValue *"`, `"int [3][4]"`, `"double []"` for a
/// flexible array member, `"<4 x float>"` for a vector. Members are given in their order, and their
/// offsets are computed. If you know the layout, give it with [`Member::at`] and [`Record::size`].
/// Then it is only checked.
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
///
/// let mut types = Declarations::new(Target::x86_64());
/// let value = types.define(
///     Record::structure("TValue")
///         .field("value", Record::union("Value").field("p", "void *").field("n", "double"))
///         .field("tt", "unsigned char"),
/// )?;
/// assert_eq!(types.size_of(value), Some(16));
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
///
/// [`Declarations::define`]: super::Declarations::define
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct Record {
    pub(super) name: String,
    pub(super) union: bool,
    pub(super) members: Vec<Member>,
    pub(super) attributes: Attributes,
}

/// A struct or a union.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordKind {
    /// A struct: members follow one another.
    Struct,
    /// A union: members share their bytes.
    Union,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Attributes {
    pub(super) packed: bool,
    pub(super) pack: Option<u64>,
    pub(super) align: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) may_alias: bool,
}

impl Record {
    fn new(name: String, union: bool) -> Self {
        Record { name, union, members: Vec::new(), attributes: Attributes::default() }
    }

    /// Returns a struct without members. With an empty name, use it only inside another record.
    pub fn structure(name: impl Into<String>) -> Self {
        Record::new(name.into(), false)
    }

    /// Returns a union without members.
    pub fn union(name: impl Into<String>) -> Self {
        Record::new(name.into(), true)
    }

    /// Adds a member.
    pub fn field(self, name: impl Into<String>, ty: impl Into<MemberType>) -> Self {
        self.member(Member::new(name, ty))
    }

    /// Adds a bit-field of `width` bits. A bit-field of width 0 must have no name; the next
    /// bit-field then starts a new storage unit.
    pub fn bits(self, name: impl Into<String>, ty: impl Into<MemberType>, width: u32) -> Self {
        self.member(Member::new(name, ty).bits(width))
    }

    /// Adds an anonymous struct or union. Its members count as members of this record.
    pub fn anonymous(self, record: Record) -> Self {
        self.member(Member::new("", record))
    }

    /// Adds a base class. Its members count as members of this record. In a path, write `Base::x`
    /// for a member of the base.
    ///
    /// A base gets the layout of a member. If it is empty, or contains a base and ends in padding,
    /// later members may overlap it, so the record must have explicit offsets.
    pub fn base(self, ty: impl Into<MemberType>) -> Self {
        self.member(Member::base(ty))
    }

    /// Adds a member, which may have attributes.
    pub fn member(mut self, member: Member) -> Self {
        self.members.push(member);
        self
    }

    /// Packs the record, like `__attribute__((packed))`. This packs no bases, and in C++ no members
    /// whose class has a base. If a class is not POD for another reason, give offsets.
    pub fn packed(mut self) -> Self {
        self.attributes.packed = true;
        self
    }

    /// Limits the alignment of members to `bytes`, like `#pragma pack`.
    pub fn pack(mut self, bytes: u64) -> Self {
        self.attributes.pack = Some(bytes);
        self
    }

    /// Aligns the record to at least `bytes`, like `__attribute__((aligned))`. If offsets are
    /// explicit, `bytes` is the alignment.
    pub fn align(mut self, bytes: u64) -> Self {
        self.attributes.align = Some(bytes);
        self
    }

    /// Sets the size in bytes, which is then checked and not computed. It is required if members
    /// have explicit offsets.
    pub fn size(mut self, bytes: u64) -> Self {
        self.attributes.size = Some(bytes);
        self
    }

    /// Lets accesses to the record alias everything, like `__attribute__((may_alias))`.
    pub fn may_alias(mut self) -> Self {
        self.attributes.may_alias = true;
        self
    }
}

/// A member of a [`Record`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub struct Member {
    pub(super) name: String,
    pub(super) ty: MemberType,
    pub(super) bits: Option<u32>,
    pub(super) align: Option<u64>,
    pub(super) packed: bool,
    pub(super) immutable: bool,
    pub(super) base: bool,
    /// The offset in bits from the start of the record.
    pub(super) at: Option<u64>,
}

impl Member {
    /// Returns a member without attributes.
    pub fn new(name: impl Into<String>, ty: impl Into<MemberType>) -> Self {
        Member {
            name: name.into(),
            ty: ty.into(),
            bits: None,
            align: None,
            packed: false,
            immutable: false,
            base: false,
            at: None,
        }
    }

    /// Returns a base class, as in [`Record::base`].
    pub fn base(ty: impl Into<MemberType>) -> Self {
        Member { base: true, ..Member::new("", ty) }
    }

    /// Makes the member an array of `len` elements, or a flexible array if `len` is `None`.
    pub fn array(mut self, len: impl Into<Option<u64>>) -> Self {
        self.ty = MemberType::Array(Box::new(self.ty), len.into());
        self
    }

    /// Makes the member a bit-field of `width` bits.
    pub fn bits(mut self, width: u32) -> Self {
        self.bits = Some(width);
        self
    }

    /// Aligns the member to at least `bytes`, like `__attribute__((aligned))`.
    pub fn align(mut self, bytes: u64) -> Self {
        self.align = Some(bytes);
        self
    }

    /// Packs the member, like `__attribute__((packed))`.
    pub fn packed(mut self) -> Self {
        self.packed = true;
        self
    }

    /// States that the member is never modified while it can be read. Its tags are immutable.
    pub fn immutable(mut self) -> Self {
        self.immutable = true;
        self
    }

    /// Sets the offset in bytes from the start of the record, which is then checked and not
    /// computed. Set it for all members of a record or for none.
    pub fn at(mut self, offset: u64) -> Self {
        // This saturates only for offsets that are too large anyway.
        self.at = Some(offset.saturating_mul(8));
        self
    }

    /// Sets the offset of a bit-field, in bits from the start of the record.
    pub fn at_bit(mut self, offset: u64) -> Self {
        self.at = Some(offset);
        self
    }
}

/// The type of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MemberType {
    /// A type in C text.
    Text(String),
    /// A declared type.
    Declared(DeclId),
    /// A record. An unnamed record can be the type of one member only.
    Record(Box<Record>),
    /// An array; without a length, a flexible array.
    Array(Box<MemberType>, Option<u64>),
    /// A new scalar type called `Record.member`, with this layout and the parent `char`.
    Scalar(ScalarLayout),
}

impl From<ScalarLayout> for MemberType {
    fn from(layout: ScalarLayout) -> Self {
        MemberType::Scalar(layout)
    }
}

impl From<&str> for MemberType {
    fn from(text: &str) -> Self {
        MemberType::Text(text.to_owned())
    }
}

impl From<String> for MemberType {
    fn from(text: String) -> Self {
        MemberType::Text(text)
    }
}

impl From<DeclId> for MemberType {
    fn from(id: DeclId) -> Self {
        MemberType::Declared(id)
    }
}

impl From<Record> for MemberType {
    fn from(record: Record) -> Self {
        MemberType::Record(Box::new(record))
    }
}
