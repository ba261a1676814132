//! `tbaa completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::report::Failure;

pub(super) fn run(args: &Completions, out: &mut dyn Write) -> Result<(), Failure> {
    // The generator panics when it cannot write, and memory it always can.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "tbaa", &mut script);
    Ok(out.write_all(&script)?)
}
