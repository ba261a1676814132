//! `tbaa man`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::printable::printable_path;
use crate::report::Failure;

/// Writes the manual's pages, one for each command.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/man.txt"))]
pub(crate) struct Man {
    /// The folder, which is made if it is not there.
    pub(crate) folder: PathBuf,
}

pub(super) fn run(args: &Man, program: clap::Command, out: &mut dyn Write) -> Result<(), Failure> {
    let write = || {
        fs::create_dir_all(&args.folder)?;
        clap_mangen::generate_to(program, &args.folder)
    };
    let folder = printable_path(&args.folder);
    write().map_err(|error| Failure::unusable(format!("cannot write to {folder}: {error}")))?;
    writeln!(out, "the pages of tbaa are in {folder}")?;
    Ok(())
}
