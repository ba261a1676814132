//! The clauses of the rules: each is a condition that decides a query.

use std::fmt;

/// The clause of a rule that decided a query. "May" and "No" are the answers that it gives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Clause {
    /// May: an access has no tag.
    NoTag,
    /// May: a tag was issued by another graph.
    ForeignTag,
    /// May: a tag, or a type that it reaches, is malformed, contains itself, or mixes formats. Or
    /// the tag denotes no path, or, for rule `llvm`, LLVM's verifier rejects it.
    Malformed,
    /// May: on every path, an access of known size extends past the end of its base type, so its
    /// tag does not describe it.
    Leaves,
    /// May: both accesses have the same tag.
    SameTag,
    /// May: the access types have different roots.
    Roots,
    /// May: one access is to a whole object, and its type is the other's access type or an ancestor
    /// of that.
    Generality,
    /// May: the tags have different formats.
    MixedFormats,
    /// May: the accesses share a byte, or in the old format the same field.
    Overlap,
    /// May: the search reached a limit.
    Limit,
    /// May, rule `llvm` only: LLVM would crash or run forever.
    Crash,
    /// May, rule `llvm` only: following the fields from one tag's base type leads to the other's
    /// base type, at the same offset or with one of them accessing the whole object.
    Meets,
    /// May, rule `llvm` only, new format: one access type contains the other's base type.
    Contains,
    /// No, rule `llvm` only: following the fields from one tag's base type leads to the other's
    /// base type, at another offset.
    OtherOffset,
    /// No: both accesses are to objects inside one type, and they share no byte of it.
    Apart,
    /// No, rule `union-strict` only: the accesses share bytes, but through different members of a
    /// union, and one of them does not name the union.
    Parted,
    /// No: neither base type contains an object that the other tag accesses.
    Unrelated,
}

impl Clause {
    /// Returns whether the clause answers `NoAlias`.
    #[must_use]
    pub fn is_no_alias(self) -> bool {
        matches!(self, Clause::OtherOffset | Clause::Apart | Clause::Parted | Clause::Unrelated)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clause::NoTag => "an access has no tag",
            Clause::ForeignTag => "another graph issued a tag",
            Clause::Malformed => "a tag is malformed or denotes no path",
            Clause::Leaves => "an access reaches past the end of its base type",
            Clause::SameTag => "the two tags are the same",
            Clause::Roots => "the access types have different roots",
            Clause::Generality => "a whole access to a type that covers the other's access type",
            Clause::MixedFormats => "one tag is of the old format, one of the new",
            Clause::Overlap => "the accesses share bytes",
            Clause::Limit => "the search through the types reached its limit",
            Clause::Crash => "LLVM would crash on these tags",
            Clause::Meets => "walking from one tag's base type reaches the other tag's type",
            Clause::Contains => "one access type contains the other tag's base type",
            Clause::OtherOffset => {
                "walking from one tag's base type reaches the other tag's type, at another offset"
            }
            Clause::Apart => "the accesses touch different bytes of one type",
            Clause::Parted => "the accesses share bytes, but through different members of a union",
            Clause::Unrelated => "neither base type leads to the other access",
        })
    }
}
