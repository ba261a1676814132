//! The clauses of the rules.

use std::fmt;

/// The clause of a rule that decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Clause {
    /// May: an access has no tag.
    NoTag,
    /// May: another graph issued a tag.
    ForeignTag,
    /// May: a tag, or a type that it reaches, is ill formed, contains itself, or mixes formats; or
    /// the tag denotes no path; for rule `llvm`, LLVM's verifier rejects the tag.
    Malformed,
    /// May: a known size reaches past the end of the access's base type on every path, so
    /// the tag does not describe the access.
    Leaves,
    /// May: the two tags are one.
    SameTag,
    /// May: the access types have different roots.
    Roots,
    /// May: one access is to a whole object of a type that is the other's access type or an
    /// ancestor of it.
    Generality,
    /// May: the tags are of different formats.
    MixedFormats,
    /// May: a byte is shared, or in the old format two slots meet.
    Overlap,
    /// May: the search reached a limit.
    Limit,
    /// May, rule `llvm` only: LLVM would crash or not terminate.
    Crash,
    /// May, rule `llvm` only: walking from one tag's base type reaches the
    /// other's type at its offset, or at a whole object.
    Meets,
    /// May, rule `llvm` only, new format: one access type contains the other's base type.
    Contains,
    /// No, rule `llvm` only: walking from one tag's base type reaches the other's
    /// type at another offset.
    OtherOffset,
    /// No: both accesses are to objects inside one type, and share no byte of it.
    Apart,
    /// No, rule `union-strict` only: the accesses share bytes, but by different members, and one of
    /// them does not name the union.
    Parted,
    /// No: neither base type leads to an object of the other access.
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
