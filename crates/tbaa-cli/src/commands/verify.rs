//! `tbaa verify`.

use std::io::Write;
use std::path::PathBuf;

use tbaa::AliasRule;
use tbaa_check::verify::{Options, verify, verify_graph};

use super::Outcome;
use super::findings::{self, FindingFormat, Findings, limits};
use crate::convert::FlagsArg;
use crate::input::{Content, Input};
use crate::report::Failure;

/// Reports metadata that LLVM 22's verifier rejects.
///
/// For each tag it reports the first rule that the tag breaks. For each type that a
/// tag uses it reports all rules that the type breaks. Rule llvm answers MayAlias to
/// every query about a rejected tag.
///
/// LLVM follows only the last member of a union. With --rules union or
/// union-strict it reports the tags that lead to no field by these rules, and says
/// whether LLVM accepts them.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/verify.txt"))]
pub(crate) struct Verify {
    /// .ll, .bc, C or C++ files, .ron specs, or `-`.
    #[arg(required = true)]
    pub(crate) input: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// llvm, union or union-strict.
    #[arg(long, value_name = "RULES", default_value = "llvm")]
    pub(crate) rules: AliasRule,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FindingFormat,
    /// Findings of one code that are reported, and ten times as many in all.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: usize,
}

pub(super) fn run(args: &Verify, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let options = Options::from(args.rules).limits(limits(args.limit));
    findings::run(&args.input, args.format, out, |path, _| {
        let input = Input::open(args.flags.among(path, args.input.iter()))?;
        let found = match &input.content {
            Content::Module(module) => verify(module, options),
            Content::Spec(built, _) => verify_graph(built.graph(), options),
        };
        Ok(Some(Findings { input, found }))
    })
}
