//! The rules, and their answers.

use std::fmt;

/// The definition of aliasing that the oracle follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum AliasRule {
    /// Answers exactly like LLVM 22 on tags that its verifier accepts. On other tags, and where
    /// LLVM would assert or crash, it answers `MayAlias`. Sizes are ignored.
    #[default]
    Llvm,
    /// Follows every member of a union. It distinguishes array elements only by the
    /// offset in the element, and uses sizes. Accesses that overlap through a union
    /// alias: type punning is allowed.
    Union,
    /// Like [`AliasRule::Union`], but an access to one member of a union does not
    /// alias an access to another member that does not name the union.
    UnionStrict,
}

impl AliasRule {
    /// All rules.
    pub const ALL: [AliasRule; 3] = [AliasRule::Llvm, AliasRule::Union, AliasRule::UnionStrict];
}

impl fmt::Display for AliasRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AliasRule::Llvm => "llvm",
            AliasRule::Union => "union",
            AliasRule::UnionStrict => "union-strict",
        })
    }
}

/// A text that is not the name of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("expected llvm, union or union-strict")]
pub struct UnknownRuleError;

/// Reads the name that [`AliasRule`] displays, or the name in a spec, with `_`.
///
/// ```
/// use tbaa::AliasRule;
///
/// assert_eq!("union-strict".parse(), Ok(AliasRule::UnionStrict));
/// assert_eq!("union_strict".parse(), Ok(AliasRule::UnionStrict));
/// assert!("Union".parse::<AliasRule>().is_err());
/// ```
impl std::str::FromStr for AliasRule {
    type Err = UnknownRuleError;

    fn from_str(name: &str) -> Result<AliasRule, UnknownRuleError> {
        match name {
            "llvm" => Ok(AliasRule::Llvm),
            "union" => Ok(AliasRule::Union),
            "union-strict" | "union_strict" => Ok(AliasRule::UnionStrict),
            _ => Err(UnknownRuleError),
        }
    }
}

/// The answer to an alias query.
///
/// LLVM: `AliasResult`; TBAA only gives these two.
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
