//! Structs and unions as they are declared, before any check.

use super::{DeclId, ScalarLayout};

/// A struct or union to be declared, by [`Declarations::define`].
///
/// Types are spelled as in C: `"unsigned char"`, `"TValue *"`, `"int [3][4]"`, `"double []"` for a
/// flexible array member, `"<4 x float>"` for a vector. Members are in the order of declaration and
/// their offsets are computed. A known layout is given by [`Member::at`] and [`Record::size`], and
/// is then only checked.
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

/// The two kinds of records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RecordKind {
    /// Its members follow one another.
    Struct,
    /// Its members share their bytes.
    Union,
}

/// The attributes of a record.
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

    /// Returns a struct without members. An unnamed one can only be used inside another record.
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

    /// Adds a bit-field of `width` bits. With a width of 0 it has no name, and the next bit-field
    /// starts a new storage unit.
    pub fn bits(self, name: impl Into<String>, ty: impl Into<MemberType>, width: u32) -> Self {
        self.member(Member::new(name, ty).bits(width))
    }

    /// Adds an anonymous struct or union, whose members count as this record's own.
    pub fn anonymous(self, record: Record) -> Self {
        self.member(Member::new("", record))
    }

    /// Adds a base class, whose members count as this record's own. In a path, `Base::x` is a
    /// member of the base.
    ///
    /// The base is laid out like a member. This is right only for a base that could be declared in
    /// C: no later member is placed in its padding.
    pub fn base(self, ty: impl Into<MemberType>) -> Self {
        self.member(Member::base(ty))
    }

    /// Adds a member with more properties.
    pub fn member(mut self, member: Member) -> Self {
        self.members.push(member);
        self
    }

    /// Leaves out all padding between members: `__attribute__((packed))`.
    pub fn packed(mut self) -> Self {
        self.attributes.packed = true;
        self
    }

    /// Aligns no member to more than `bytes`: `#pragma pack`.
    pub fn pack(mut self, bytes: u64) -> Self {
        self.attributes.pack = Some(bytes);
        self
    }

    /// Aligns the record to at least `bytes`: `__attribute__((aligned))`. With
    /// explicit offsets it is the alignment.
    pub fn align(mut self, bytes: u64) -> Self {
        self.attributes.align = Some(bytes);
        self
    }

    /// Sets the size in bytes, which is then checked instead of computed. Required if members have
    /// explicit offsets.
    pub fn size(mut self, bytes: u64) -> Self {
        self.attributes.size = Some(bytes);
        self
    }

    /// Lets accesses to members alias everything: `__attribute__((may_alias))`.
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
    /// Returns a member at the next place of its record.
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

    /// Returns a base class, as [`Record::base`] does.
    pub fn base(ty: impl Into<MemberType>) -> Self {
        Member { base: true, ..Member::new("", ty) }
    }

    /// Makes the member an array of `len` elements, or a flexible array for `None`. For a type
    /// given as text, `"int [4]"` means the same.
    pub fn array(mut self, len: impl Into<Option<u64>>) -> Self {
        self.ty = MemberType::Array(Box::new(self.ty), len.into());
        self
    }

    /// Makes the member a bit-field of `width` bits.
    pub fn bits(mut self, width: u32) -> Self {
        self.bits = Some(width);
        self
    }

    /// Aligns the member to at least `bytes`: `__attribute__((aligned))`.
    pub fn align(mut self, bytes: u64) -> Self {
        self.align = Some(bytes);
        self
    }

    /// Leaves out the padding before the member.
    pub fn packed(mut self) -> Self {
        self.packed = true;
        self
    }

    /// Promises that the member is never modified while it can be read: its
    /// tags are immutable.
    pub fn immutable(mut self) -> Self {
        self.immutable = true;
        self
    }

    /// Sets the offset in bytes from the start of the record, which is then checked instead of
    /// computed. Either all members of a record have one, or none has.
    pub fn at(mut self, offset: u64) -> Self {
        // No record is so large that this saturates.
        self.at = Some(offset.saturating_mul(8));
        self
    }

    /// Sets the offset of a bit-field, in bits from the start of the record.
    pub fn at_bit(mut self, offset: u64) -> Self {
        self.at = Some(offset);
        self
    }
}

/// The type of a member: C text, a declared type, or a record that is declared in place.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MemberType {
    /// A type as spelled in C.
    Text(String),
    /// A declared type.
    Declared(DeclId),
    /// A record. If it has no name, it is only used here.
    Record(Box<Record>),
    /// An array; a flexible one without a length.
    Array(Box<MemberType>, Option<u64>),
    /// A scalar of the member's own, of which only the layout is known: `Record.member` is its name.
    /// An access to the member aliases nothing else but `char`.
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
