//! The rules by which an oracle answers, and the answers.

use std::fmt;

/// The rule by which an oracle decides whether two accesses may alias.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum AliasRule {
    /// Answers like LLVM 22 if LLVM's verifier accepts both tags. Otherwise, and where LLVM would
    /// assert or crash, the answer is `MayAlias`. Sizes are ignored.
    #[default]
    Llvm,
    /// Considers every member of a union, and uses sizes. An access to an array element may access
    /// any element. Accesses that overlap through a union may alias, because type punning is
    /// allowed.
    Union,
    /// Like [`AliasRule::Union`], except that accesses to two different members of a union do not
    /// alias if the type path of one access does not contain the union.
    UnionStrict,
}

impl AliasRule {
    /// All the rules.
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

/// The error for a text that is not the name of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("expected llvm, union or union-strict")]
pub struct UnknownRuleError;

/// Reads the name of a rule as [`AliasRule`] displays it, or with `_` instead of `-`.
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

/// The answer to an alias query. TBAA uses only these two values of LLVM's `AliasResult`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AliasResult {
    /// The accesses may touch a common byte. This is also the answer if nothing is known.
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
