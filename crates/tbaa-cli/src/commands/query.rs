//! `tbaa alias` and `tbaa generic`: questions about two tags.

use std::io::Write;
use std::path::PathBuf;

use tbaa::{Clause, Oracle, Rules, TagId};

use crate::args::RulesArg;
use crate::convert::FlagsArg;
use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::{Failure, note};

/// Prints MayAlias or NoAlias.
///
/// Any doubt is MayAlias: different roots, a malformed tag. A tag that LLVM's
/// verifier rejects is warned of.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa alias f.ll '!8' '!12'
  tbaa alias f.ll 8 12
  tbaa alias ravi.ron CallInfo.top TValue.n

Exit status:
  0  answered, whatever the answer
  2  unusable input or arguments")]
pub(crate) struct Alias {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// Two tags to compare.
#[derive(clap::Args)]
pub(crate) struct Pair {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// One tag.
    pub(crate) a: String,
    /// The other.
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
}

/// Prints the tag of an access that replaces two, or `none`.
///
/// For assembly text the tag is printed as metadata that refers to the file's
/// own numbers, and an unknown size as `i64 -1`, as LLVM prints it; for a spec
/// by the names of its types. `none` means that no tag covers both accesses, and
/// the new access must go untagged. The order of the two can matter, as it does
/// in LLVM.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa generic f.ll 8 12                              !{!3, !3, i64 0}
  tbaa generic ravi.ron CallInfo.top CallInfo.func    (base: \"any pointer\", ...)

Exit status:
  0  answered, `none` included
  2  unusable input or arguments")]
pub(crate) struct Generic {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// A question about two tags of an input.
pub(super) struct Question {
    pub(super) input: Input,
    pub(super) rules: Rules,
    pub(super) a: TagId,
    pub(super) b: TagId,
}

impl Question {
    /// Reads the input and finds the tags; warns of those that LLVM rejects.
    pub(super) fn read(args: &Pair) -> Result<Question, Failure> {
        let mut input = Input::open(args.flags.of(&args.input))?;
        let rules = input.rules(args.rules.rules);
        let (a, b) = input.pair(&args.a, &args.b)?;
        input.warn_rejected(rules, [a, b]);
        Ok(Question { input, rules, a, b })
    }
}

pub(super) fn alias(args: &Alias, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, a, b } = Question::read(&args.pair)?;
    let why = Oracle::new(input.graph(), rules).explain(a, b);
    if rules != Rules::Llvm && why.clause == Clause::Malformed {
        note(format!("{}, and rule {rules} answers MayAlias", why.clause));
    }
    writeln!(out, "{}", why.answer)?;
    Ok(())
}

pub(super) fn generic(args: &Generic, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, a, b } = Question::read(&args.pair)?;
    match Oracle::new(input.graph(), rules).most_generic(a, b) {
        // Metadata, and what it means as a comment.
        Some(tag) if matches!(input.content, Content::Module(_)) => {
            let means = input.names().tag_of(&tag);
            writeln!(out, "{} ; {}", input.tag_text(&tag), printable(means.as_bytes()))?;
        }
        Some(tag) => writeln!(out, "{}", input.tag_text(&tag))?,
        None => writeln!(out, "none")?,
    }
    Ok(())
}
