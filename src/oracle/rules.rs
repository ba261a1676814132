//! The rules, and their answers.

use std::fmt;

/// Which definition of aliasing the oracle follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Rules {
    /// What LLVM 22 answers on tags that its verifier accepts, bit for bit;
    /// `MayAlias` on others, and where LLVM would assert or crash. Sizes are
    /// ignored.
    #[default]
    Llvm,
    /// Every member of a union is followed, array elements are distinguished
    /// by their offset in the element alone, and sizes count. What aliases
    /// through a union, aliases: type punning is allowed.
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

/// A name that no rule has.
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
