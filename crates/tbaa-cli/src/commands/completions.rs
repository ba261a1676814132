//! `tbaa completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::Args;
use crate::report::Failure;

/// Prints a completion script for a shell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa completions bash > ~/.local/share/bash-completion/completions/tbaa
  tbaa completions zsh > ~/.zfunc/_tbaa
  tbaa completions fish > ~/.config/fish/completions/tbaa.fish")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

pub(super) fn run(args: &Completions, out: &mut dyn Write) -> Result<(), Failure> {
    // The generator panics when it cannot write, and memory it always can.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "tbaa", &mut script);
    Ok(out.write_all(&script)?)
}
