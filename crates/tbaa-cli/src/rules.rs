//! The names of the rules on the command line.

use tbaa::Rules;
use tbaa::spec::RuleName;

/// All names. What the library has no rules for is refused when it is asked
/// for, so this is the list of the contract, not of this version.
const NAMES: [(&str, RuleName); 3] =
    [("llvm", RuleName::Llvm), ("union", RuleName::Union), ("union-strict", RuleName::UnionStrict)];

/// Parses the value of `--rules`.
pub(crate) fn parse(name: &str) -> Result<Rules, String> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    let (_, rule) = found.ok_or("expected llvm, union or union-strict")?;
    rule.rules().ok_or_else(|| missing(*rule))
}

/// Says that the library lacks a rule.
pub(crate) fn missing(rule: RuleName) -> String {
    let known: Vec<_> =
        NAMES.iter().filter(|(_, rule)| rule.rules().is_some()).map(|(name, _)| *name).collect();
    format!("this version has no rule {}; it has {}", label(rule), known.join(", "))
}

/// Returns the name of a rule that a spec names.
pub(crate) fn label(rule: RuleName) -> &'static str {
    NAMES.iter().find(|(_, known)| *known == rule).map_or("?", |(name, _)| name)
}

/// Returns the name of the oracle's rules.
pub(crate) fn name(rules: Rules) -> &'static str {
    NAMES.iter().find(|(_, rule)| rule.rules() == Some(rules)).map_or("?", |(name, _)| name)
}
