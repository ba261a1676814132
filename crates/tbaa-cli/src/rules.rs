//! The names of the rules on the command line.

use tbaa::Rules;

/// Parses the value of `--rules`.
pub(crate) fn parse(name: &str) -> Result<Rules, String> {
    [Rules::Llvm, Rules::Union, Rules::UnionStrict]
        .into_iter()
        .find(|rules| rules.to_string() == name)
        .ok_or_else(|| "expected llvm, union or union-strict".to_owned())
}
