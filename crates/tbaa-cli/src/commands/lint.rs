//! `tbaa lint`.

use std::io::Write;

use tbaa::lint::{Options, lint, lint_graph};
use tbaa::text::Keep;
use tbaa::{Code, Level};

use super::Outcome;
use super::findings::{self, Findings};
use crate::args::Lint;
use crate::input::{Content, Input};
use crate::report::Failure;

pub(super) fn run(args: &Lint, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if args.list {
        list(out)?;
        return Ok(Outcome::Fine);
    }
    if let Some(code) = args.explain {
        writeln!(out, "{}", code.page())?;
        return Ok(Outcome::Fine);
    }
    let mut options = Options::default();
    let levels =
        [(&args.warn, Some(Level::Warning)), (&args.deny, Some(Level::Error)), (&args.allow, None)];
    for (lints, level) in levels {
        options = lints.iter().fold(options, |options, &lint| options.set(lint, level));
    }
    findings::run(&args.input, args.format, out, |path| {
        // Nodes that nothing uses are worth a finding too.
        let input = Input::open_keeping(path, Keep::All)?;
        let found = match &input.content {
            Content::Module(module) => lint(module, input.text(), &options),
            Content::Spec(built) => lint_graph(built.graph(), &options),
        };
        Ok(Findings { input, found })
    })
}

fn list(out: &mut dyn Write) -> Result<(), Failure> {
    for code in Code::all() {
        let Code::Lint(lint) = code else { continue };
        let level = lint.level().map_or_else(|| "off".to_owned(), |level| level.to_string());
        writeln!(out, "{code}  {level:<7}  {}", code.title())?;
    }
    Ok(())
}
