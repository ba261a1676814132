//! `tbaa verify`.

use std::io::Write;

use tbaa::verify::{verify, verify_graph};

use super::Outcome;
use super::findings::{self, Findings};
use crate::args::Verify;
use crate::input::{Content, Input};
use crate::report::Failure;

pub(super) fn run(args: &Verify, out: &mut dyn Write) -> Result<Outcome, Failure> {
    findings::run(&args.input, args.format, out, |path| {
        let input = Input::open(path)?;
        let found = match &input.content {
            Content::Module(module) => verify(module, input.text(), args.rules),
            Content::Spec(built) => verify_graph(built.graph(), args.rules),
        };
        Ok(Findings { input, found })
    })
}
