//! The clauses of the alias rules `llvm`, `union` and `union-strict`: each is a condition that
//! decides a query. TBAA nodes of the old format record no sizes, those of the new format do.

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
    /// May. Rule `llvm`: LLVM's verifier rejects a tag. Other rules: a tag is malformed, a type is
    /// malformed, contains itself or mixes formats, or no path of fields leads from a tag's base
    /// type to its access type at its offset.
    Malformed,
    /// May: an access of known size extends past the end of its base type. So its tag does not
    /// describe the access.
    Leaves,
    /// May: both accesses have the same tag.
    SameTag,
    /// May: the access types have different roots.
    Roots,
    /// May: one tag accesses its whole base type, and this type is the other's access type or an
    /// ancestor of it.
    Generality,
    /// May: the tags have different formats.
    MixedFormats,
    /// May: the accesses share a byte, or in the old format the same field.
    Overlap,
    /// May: the search reached a limit.
    Limit,
    /// May, rule `llvm` only: LLVM would crash or run forever.
    Crash,
    /// May, rule `llvm` only: the fields from one tag's base type lead to the other tag's base
    /// type. Counted from the start of that type, both tags have one offset, or one of them accesses
    /// the whole of that type.
    Meets,
    /// May, rule `llvm` only, new format: one tag's access type contains the other tag's base type.
    Contains,
    /// No, rule `llvm` only: the fields from one tag's base type lead to the other tag's base type.
    /// Counted from the start of that type, the tags have different offsets.
    OtherOffset,
    /// No: both accesses may be inside an object of one of the base types, but share no byte there.
    Apart,
    /// No, rule `union-strict` only: the accesses share bytes, but through different members of a
    /// union, and one of the base types is inside such a member.
    Parted,
    /// No: the rule finds neither base type inside the other.
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
