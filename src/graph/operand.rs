//! The operands of a metadata node.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::NodeId;

/// An integer constant operand, such as `i64 16`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Int {
    /// The width of the LLVM type in bits: 64 for `i64`.
    pub bits: u32,
    /// The value, zero-extended. A constant of over 64 significant bits is an [`Operand::Raw`].
    pub value: u64,
}

impl Int {
    /// Returns `i64 value`, the form in which LLVM's `MDBuilder` writes offsets.
    #[must_use]
    pub fn i64(value: u64) -> Self {
        Int { bits: 64, value }
    }
}

/// Prints the integer as LLVM does: signed, and `i1` as a word: `i64 16`, `i8 -1`, `i1 true`.
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

/// One operand of a metadata node. LLVM: `MDOperand`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand<'g> {
    /// `null`.
    Null,
    /// `!"name"`: any bytes, not necessarily UTF-8.
    String(&'g [u8]),
    /// `i64 16`.
    Int(Int),
    /// `!4`.
    Node(NodeId),
    /// Any other operand, as its text: `ptr @g`, `double 1.0`, `!DIFile(...)`. In a TBAA node that
    /// LLVM accepts, such an operand has no effect.
    Raw(&'g str),
}

impl Operand<'_> {
    /// Returns the node, if this operand is one.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Operand::Node(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the integer, if this operand is one.
    pub fn int(self) -> Option<Int> {
        match self {
            Operand::Int(int) => Some(int),
            _ => None,
        }
    }
}

/// An operand in four bytes: three bits for the kind, and 29 bits for a small `i64` or for an index
/// into the graph's table of operands of that kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed(u32);

/// Hashes every four operands of a slice as one 128-bit number, and the rest one by one.
impl Hash for Packed {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.0);
    }

    #[inline]
    fn hash_slice<H: Hasher>(data: &[Packed], state: &mut H) {
        let mut fours = data.chunks_exact(4);
        for four in &mut fours {
            let join = |high: u128, low: &Packed| high << 32 | u128::from(low.0);
            state.write_u128(four.iter().fold(0, join));
        }
        fours.remainder().iter().for_each(|packed| packed.hash(state));
    }
}

/// The number of different indices that fit in 29 bits.
pub(super) const PACKED_LIMIT: usize = 1 << 29;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandKind {
    Null,
    String,
    Int,
    Node,
    Raw,
    /// An `i64` that fits in 29 bits. It is stored in the operand, not in a table.
    Small,
}

impl Packed {
    pub(super) const NULL: Packed = Packed(0);

    #[inline]
    pub(super) fn new(kind: OperandKind, index: usize) -> Option<Packed> {
        (index < PACKED_LIMIT).then_some(Packed((kind as u32) << 29 | index as u32))
    }

    /// Returns an `i64` as a packed operand, if its value fits in 29 bits.
    pub(super) fn small(int: Int) -> Option<Packed> {
        let value = usize::try_from(int.value).ok()?;
        if int.bits == 64 { Packed::new(OperandKind::Small, value) } else { None }
    }

    #[inline]
    pub(super) fn kind(self) -> OperandKind {
        match self.0 >> 29 {
            0 => OperandKind::Null,
            1 => OperandKind::String,
            2 => OperandKind::Int,
            3 => OperandKind::Node,
            4 => OperandKind::Raw,
            _ => OperandKind::Small,
        }
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        (self.0 & (PACKED_LIMIT as u32 - 1)) as usize
    }
}
