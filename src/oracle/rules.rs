//! The rules, and their answers.

use std::fmt;

/// Which definition of aliasing the oracle follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Rules {
    /// Answers as LLVM 22 does, bit for bit, on tags that its verifier accepts.
    /// On other tags, and where LLVM would assert or crash, it answers `MayAlias`.
    /// Sizes are ignored.
    #[default]
    Llvm,
    /// Follows every member of a union. It distinguishes array elements only by the
    /// offset in the element, and uses sizes. Accesses that overlap through a union
    /// alias: type punning is allowed.
    Union,
    /// As [`Rules::Union`], but an access to one member of a union does not
    /// alias an access to another member that does not name the union.
    UnionStrict,
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rules::Llvm => "llvm",
            Rules::Union => "union",
            Rules::UnionStrict => "union-strict",
        })
    }
}

/// A text that is not the name of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct UnknownRules;

impl fmt::Display for UnknownRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected llvm, union or union-strict")
    }
}

impl std::error::Error for UnknownRules {}

/// Reads the name that [`Rules`] displays, or the one in a spec, with `_`.
///
/// ```
/// use tbaa::Rules;
///
/// assert_eq!("union-strict".parse(), Ok(Rules::UnionStrict));
/// assert_eq!("union_strict".parse(), Ok(Rules::UnionStrict));
/// assert!("Union".parse::<Rules>().is_err());
/// ```
impl std::str::FromStr for Rules {
    type Err = UnknownRules;

    fn from_str(name: &str) -> Result<Rules, UnknownRules> {
        match name {
            "llvm" => Ok(Rules::Llvm),
            "union" => Ok(Rules::Union),
            "union-strict" | "union_strict" => Ok(Rules::UnionStrict),
            _ => Err(UnknownRules),
        }
    }
}

/// The answer to an alias query.
///
/// LLVM: `AliasResult`, of which TBAA gives these two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AliasResult {
    /// The accesses may touch a common byte, or nothing is known.
    MayAlias,
    /// The accesses never touch a common byte.
    NoAlias,
}

impl fmt::Display for AliasResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AliasResult::MayAlias => "MayAlias",
            AliasResult::NoAlias => "NoAlias",
        })
    }
}
