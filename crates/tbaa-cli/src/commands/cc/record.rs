//! Records the steps of a build for `tbaa bisect --recorded`: modules, compilations and links.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::report::{Context, Failure, Result};
use crate::tools;

pub(crate) struct Recording {
    folder: PathBuf,
}

/// A compilation or link, run in `folder`, which wrote `output`.
#[derive(Clone, Serialize, Deserialize, Debug)]
pub(crate) struct Step {
    /// `None` for a link. For a compilation, `arguments` name neither the module nor the output.
    pub(crate) module: Option<PathBuf>,
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: PathBuf,
    /// An absolute path.
    pub(crate) output: PathBuf,
}

impl Step {
    /// Creates a step. If there is a module, `command` does not yet name the module and the output.
    pub(super) fn of(command: &Command, module: Option<&Path>, output: &Path) -> Result<Step> {
        let text = |text: &OsStr| text.to_string_lossy().into_owned();
        Ok(Step {
            module: module.map(Path::to_owned),
            program: text(command.get_program()),
            arguments: command.get_args().map(text).collect(),
            folder: std::env::current_dir().context("cannot find the current folder")?,
            output: std::path::absolute(output).context(output.display())?,
        })
    }
}

const LIST: &str = "build.jsonl";

impl Recording {
    /// Returns the recording that `--record DIR` or `TBAA_RECORD` asks for, and clang's arguments.
    pub(super) fn requested(arguments: &[OsString]) -> Result<(Option<Recording>, &[OsString])> {
        let (folder, rest) = match arguments {
            [flag, folder, rest @ ..] if flag == "--record" => (Some(folder.clone()), rest),
            rest => (tools::named("TBAA_RECORD"), rest),
        };
        let Some(folder) = folder else { return Ok((None, rest)) };
        fs::create_dir_all(&folder)
            .and_then(|()| fs::canonicalize(&folder))
            .map(|folder| (Some(Recording { folder }), rest))
            .context(format_args!("cannot record in {}", folder.display()))
    }

    /// Creates an empty file with a new name in the folder, and returns its path.
    fn fresh(&self, stem: &OsStr, extension: &str) -> Result<PathBuf> {
        for number in 0.. {
            let name = format!("{}-{}-{number}", stem.display(), std::process::id());
            let file = self.folder.join(name).with_extension(extension);
            match File::create_new(&file) {
                Ok(_) => return Ok(file),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error).context(self.place()),
            }
        }
        unreachable!("numbers do not end")
    }

    fn place(&self) -> String {
        format!("cannot record in {}", self.folder.display())
    }

    pub(super) fn keep(&self, module: &Path) -> Result<PathBuf> {
        let file = self.fresh(OsStr::new("module"), "ll")?;
        fs::copy(module, &file).context(self.place())?;
        Ok(file)
    }

    /// Creates the file for the object of a source that is compiled and linked in one command.
    pub(super) fn object(&self, source: &Path) -> Result<PathBuf> {
        self.fresh(source.file_stem().unwrap_or(OsStr::new("module")), "o")
    }

    pub(super) fn add(&self, step: &Step) -> Result {
        let mut line = serde_json::to_vec(step).map_err(Failure::unusable)?;
        line.push(b'\n');
        // Write the line in one call, so that compilers running in parallel do not mix their lines.
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join(LIST))
            .and_then(|mut list| list.write_all(&line))
            .context(self.place())
    }
}

/// Reads the steps of a build, in order. If several steps wrote one file, the last one counts.
pub(crate) fn steps(folder: &Path) -> Result<Vec<Step>> {
    let list = folder.join(LIST);
    let (place, folder) = (list.display(), folder.display());
    let text = fs::read_to_string(&list).map_err(|error| {
        let how = format!("build with CC='tbaa cc --record {folder}'");
        Failure::unusable(format!("cannot read {place}: {error}; {how}"))
    })?;
    let mut steps: Vec<Step> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let what = format_args!("line {number} of {place} is not what `tbaa cc` writes");
        let step: Step = serde_json::from_str(line).context(what)?;
        steps.retain(|other| other.output != step.output);
        steps.push(step);
    }
    // Drop steps whose output was deleted, such as the test programs of `configure`.
    steps.retain(|step| step.output.exists());
    Ok(steps)
}
