//! What a metadata node is made of.

use std::fmt;

use super::NodeId;

/// An integer constant operand, such as `i64 16`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Int {
    /// Width of the LLVM type in bits: 64 for `i64`.
    pub bits: u32,
    /// The value, zero-extended. Constants over 64 significant bits are kept
    /// as [`Operand::Raw`].
    pub value: u64,
}

impl Int {
    /// Returns `i64 value`, the form in which every producer writes offsets.
    #[must_use]
    pub fn i64(value: u64) -> Self {
        Int { bits: 64, value }
    }
}

/// As LLVM prints it, signed, and `i1` as a word: `i64 16`, `i8 -1`, `i1 true`.
impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Int { bits, value } = *self;
        match bits {
            1 => write!(f, "i1 {}", value != 0),
            2..=64 => {
                let unused = 64 - bits;
                write!(f, "i{bits} {}", (value << unused) as i64 >> unused)
            }
            _ => write!(f, "i{bits} {value}"),
        }
    }
}

/// One operand of a metadata node.
///
/// LLVM: `MDOperand`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Operand<'g> {
    /// `null`.
    Null,
    /// `!"name"`: any bytes, not necessarily UTF-8.
    String(&'g [u8]),
    /// `i64 16`.
    Int(Int),
    /// `!4`.
    Node(NodeId),
    /// Anything else, as its text: `ptr @g`, `double 1.0`, `!DIFile(...)`.
    /// No TBAA node that LLVM accepts needs one where it matters.
    Raw(&'g str),
}

impl Operand<'_> {
    /// Returns the node if this is one.
    #[must_use]
    pub fn node(self) -> Option<NodeId> {
        match self {
            Operand::Node(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the integer if this is one.
    #[must_use]
    pub fn int(self) -> Option<Int> {
        match self {
            Operand::Int(int) => Some(int),
            _ => None,
        }
    }
}

/// An operand in four bytes: three bits of kind, 29 of index into the table of
/// that kind. This is what keeps a tag under 48 bytes and a field under 24.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Packed(u32);

/// Number of entries that a 29-bit index can name.
pub(super) const PACKED_LIMIT: usize = 1 << 29;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    String,
    Int,
    Node,
    Raw,
}

impl Packed {
    pub(super) const NULL: Packed = Packed(0);

    pub(super) fn new(kind: Kind, index: usize) -> Option<Packed> {
        (index < PACKED_LIMIT).then_some(Packed((kind as u32) << 29 | index as u32))
    }

    pub(super) fn kind(self) -> Kind {
        match self.0 >> 29 {
            0 => Kind::Null,
            1 => Kind::String,
            2 => Kind::Int,
            3 => Kind::Node,
            _ => Kind::Raw,
        }
    }

    pub(super) fn index(self) -> usize {
        (self.0 & (PACKED_LIMIT as u32 - 1)) as usize
    }
}
