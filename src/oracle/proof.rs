//! Proofs that two accesses never share a byte, for a checker to confirm.
//!
//! A proof has a reason for each two ends of paths that could meet: a [`Gap`]
//! between strided byte ranges, or without sizes a [`Parting`] of two paths. Each
//! can be checked by itself, in a division or two. A checker then follows the
//! fields and looks up what it comes to; what is not in the proof must be out of
//! reach, one before the other. Ways that lead to one place share a reason, so a
//! proof is small where there are many paths.

use std::fmt;

use super::bytes::ByteRange;

/// Why two accesses do not alias, by [`Oracle::prove`](crate::Oracle::prove).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Proof {
    /// Whether only objects are considered to which the path does not part from
    /// the outer access's at a member, as rule `union-strict` has it.
    pub strict: bool,
    /// The objects of one access inside the base type of the other: the second's
    /// in the first's, then the first's in the second's.
    pub directions: [Direction; 2],
}

/// The comparison of an *outer* access with the objects of an *inner* one that
/// lie in the outer one's base type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Direction {
    /// All byte ranges that do not meet though one may reach past the other's
    /// start. The size-aware format's. Of ranges with one start, those with the
    /// most bytes and elements stand for the others.
    pub gaps: Vec<Gap>,
    /// Every two fields at which paths part. The old format's.
    pub partings: Vec<Parting>,
}

/// Two byte ranges from one start that share no byte.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Gap {
    /// The bytes of the outer access.
    pub outer: ByteRange,
    /// The bytes of the inner one.
    pub inner: ByteRange,
    /// Why they do not meet.
    pub apart: Apart,
}

/// Why two strided byte ranges share no byte.
///
/// A *distance* is that from the start of one interval of the first range to the
/// start of one of the second. Two intervals of `m` and `n` bytes meet where it
/// is one of `-n + 1 ..= m - 1`, the *window*.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Apart {
    /// Count the arrays whose strides are no multiples of `modulus` among the
    /// bytes, which widens the window. All distances are congruent, and between
    /// the least and the greatest of them the window holds no such number. With
    /// modulus 1, one range lies before the other.
    Residue {
        /// At least 1.
        modulus: u64,
        /// The distances' residue.
        residue: u64,
        /// The first and the last number of the window; `None` without end.
        window: (Option<i128>, Option<i128>),
    },
    /// The elements of one array, case by case.
    Cases {
        /// Its position among the first range's repeats and, after those, the
        /// second's.
        array: usize,
        /// Runs of elements from the first on, with the number of them (`None`
        /// for all that are left) and the reason for that run alone.
        runs: Vec<(Option<u64>, Apart)>,
    },
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: &Option<i128>| bound.map_or("?".to_owned(), |bound| bound.to_string());
        match self {
            Apart::Residue { modulus: 1, .. } => f.write_str("one ends before the other begins"),
            Apart::Residue { modulus, residue, window: (from, to) } => {
                write!(f, "distances are {residue} modulo {modulus}, the bytes need ")?;
                write!(f, "{}..{}", bound(from), bound(to))
            }
            Apart::Cases { runs, .. } => {
                write!(f, "array elements in {} cases, each apart", runs.len())
            }
        }
    }
}

/// Two fields of one aggregate of the old format, whose slots do not meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Parting {
    /// [`NodeId::index`](crate::NodeId::index) of the aggregate.
    pub ty: usize,
    /// The position of the field on the outer access's path.
    pub outer: usize,
    /// The position of the field on the inner one's.
    pub inner: usize,
}

/// Why there is no proof.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Unproved {
    /// The accesses may alias.
    MayAlias,
    /// Rule `llvm` proves nothing about bytes.
    Rules,
    /// A limit was reached: the proof would be too long, or needs numbers
    /// beyond 64 bits. The answer `NoAlias` stands.
    Limit,
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unproved::MayAlias => "the accesses may alias",
            Unproved::Rules => "rule `llvm` proves nothing about bytes; ask rule `union`",
            Unproved::Limit => "the accesses do not alias, but a proof would be too long",
        })
    }
}

impl std::error::Error for Unproved {}
