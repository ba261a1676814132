//! `tbaa explain`.

use std::io::Write;

use tbaa::{AccessPath, Oracle, TagId};

use super::query::{Pair, Question};
use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::Failure;

/// Prints MayAlias or NoAlias, and why.
///
/// The first line is what `alias` prints. Then come the clause of the rule that
/// decided, what the two tags say, and, where the rule compared them, the paths
/// of the two accesses from a common type and the bytes that they touch. Offsets
/// are in bytes from the start of the type that has the field.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa explain f.ll 8 12 --rules union
  tbaa explain ravi.ron CallInfo.top CallInfo.func

Exit status:
  0  answered, whatever the answer
  2  unusable input or arguments")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

pub(super) fn run(args: &Explain, out: &mut dyn Write) -> Result<(), Failure> {
    let Explain { pair } = args;
    let Question { input, rules, a, b } = Question::read(pair)?;
    let why = Oracle::new(input.graph(), rules).explain(a, b);
    writeln!(out, "{}\nrule {rules}: {}", why.answer, why.clause)?;
    let meanings = input.names();
    for (side, asked, tag) in [("a", &pair.a, a), ("b", &pair.b, b)] {
        // What was asked for may be a path, which is no tag's name. A malformed
        // tag means nothing.
        let name = match input.content {
            Content::Module(_) if input.graph().tag(tag).is_ok() => input.described(&meanings, tag),
            Content::Module(_) => input.label(tag),
            Content::Spec(_) => printable(asked.as_bytes()),
        };
        writeln!(out, "  {side}: {name} = {}", says(&input, tag))?;
    }
    if let Some(comparison) = &why.comparison {
        writeln!(out, "from {}", printable(comparison.base.as_bytes()))?;
        writeln!(out, "  a: {}", path(&input, &comparison.a))?;
        writeln!(out, "  b: {}", path(&input, &comparison.b))?;
        if let Some(apart) = comparison.arithmetic() {
            writeln!(out, "  {apart}")?;
        }
    }
    Ok(())
}

/// Returns the tag's operands, or what is wrong with them.
fn says(input: &Input, tag: TagId) -> String {
    match input.graph().tag(tag) {
        Ok(tag) => input.tag_text(&tag),
        Err(malformed) => format!("malformed: {malformed}"),
    }
}

/// Returns the steps of a path, and the bytes at its end. A field goes by its
/// name where a spec gives it one.
fn path(input: &Input, path: &AccessPath) -> String {
    let steps: Vec<_> = path
        .steps
        .iter()
        .map(|step| {
            let name = match input.field_name(&step.ty, step.field, step.offset) {
                Some(name) => printable(name.as_bytes()),
                None => format!("field {}", step.field),
            };
            let elements = if step.array { "[]" } else { "" };
            format!("{name} at {}: {}{elements}", step.offset, printable(step.into.as_bytes()))
        })
        .collect();
    let steps = if steps.is_empty() { "the object itself".to_owned() } else { steps.join(", ") };
    match &path.bytes {
        Some(bytes) => format!("{steps}; {bytes}"),
        None => steps,
    }
}
