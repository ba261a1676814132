//! Proofs that two accesses never share a byte, for a checker to confirm.
//!
//! A proof says where there is nothing to look for ([`Inside`], [`Denoted::dead`])
//! and why what is found does not meet ([`Gap`], [`Parting`]). Each of its
//! statements can be checked by itself: what is said of a type, by looking at the
//! type's fields and at what is said of theirs; a gap, by a division or two. A
//! checker then follows the fields, and looks up each end in the proof; it
//! searches and decides nothing.
//!
//! Types are named by [`NodeId::index`](crate::NodeId::index), for names may be
//! shared or missing. Offsets and sizes are in bytes.

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
    /// What each access denotes: the first's, then the second's.
    pub denoted: [Denoted; 2],
    /// The objects of one access inside the base type of the other: the second's
    /// in the first's, then the first's in the second's.
    pub directions: [Direction; 2],
}

/// Where the paths lie that an access denotes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Denoted {
    /// The types in the base type that contain the access type or are it.
    pub inside: Vec<Inside>,
    /// Types and remaining offsets from which no denoted path goes on although
    /// `inside` does not rule it out. The old format's.
    pub dead: Vec<(usize, u64)>,
}

/// The comparison of an *outer* access with the objects of an *inner* one that
/// lie in the outer one's base type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Direction {
    /// The types in the outer base type that contain an object of the inner
    /// access or are one.
    pub inside: Vec<Inside>,
    /// Every two byte ranges that had to be compared. The size-aware format's.
    /// Of ranges with one start, those with the most bytes stand for the others.
    pub gaps: Vec<Gap>,
    /// Every two fields at which paths part. The old format's.
    pub partings: Vec<Parting>,
}

/// A type that contains a target or is one. What is not listed contains none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Inside {
    /// The type.
    pub ty: usize,
    /// The farthest that a target begins from the type's start, array elements
    /// left out; `None` without bound.
    pub collapsed: Option<u64>,
    /// The same with the farthest array elements.
    pub displaced: Option<u64>,
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
        /// Whether the array is the second range's.
        second: bool,
        /// Its position among that range's repeats.
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
    /// The aggregate.
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
