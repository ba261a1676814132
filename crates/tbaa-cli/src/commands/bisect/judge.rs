//! Runs a program, and decides whether it shows the fault that `tbaa bisect` searches for. A copy
//! is the input module without some of its tags. A program may contain run-time checks of tags.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::{Bisect, Recipe};
use crate::commands::cc::runtime;
use crate::printable::printable;
use crate::report::{Context, Failure, Result, bail};
use crate::scratch::Folder;
use crate::tools::{self, clang, command_of, tool};

/// The factor by which the time limit of a program with checks is longer.
const SLOWER: u64 = 20;

/// Runs the user's command, or a [`Recipe`] that compiles a copy and runs the program.
pub(super) struct Judge<'a> {
    args: &'a Bisect,
    /// The temporary folder for the copy, the compiled program and the program's output.
    folder: Folder,
    /// The outcome of the copy without any tag; `None` before a recipe has run that copy.
    reference: Option<Outcome>,
    /// The folder for the reports of the checks; `None` while the program has no checks.
    reports: Option<PathBuf>,
}

/// The outcome of a recipe. `Ran` means that the program was compiled.
#[derive(PartialEq)]
enum Outcome {
    NotCompiled(Ended),
    Ran { ended: Ended, output: Vec<u8> },
}

impl<'a> Judge<'a> {
    pub(super) fn new(args: &'a Bisect) -> Result<Self> {
        Ok(Judge { args, folder: Folder::new()?, reference: None, reports: None })
    }

    /// Returns whether a recipe must first run the copy without any tag, for comparison.
    pub(super) fn needs_reference(&self) -> bool {
        self.args.recipe.is_some() && self.reference.is_none()
    }

    /// Returns whether the fault shows in the copy that `write` writes.
    pub(super) fn shows(&mut self, write: impl FnOnce(&mut File) -> Result) -> Result<bool> {
        let copy = self.folder.file("copy.ll");
        let file = File::create(&copy);
        write(&mut file.context(format_args!("cannot write {}", copy.display()))?)?;
        let deadline = self.deadline();
        match self.args.recipe {
            None => self.command(Some(&copy), deadline),
            Some(recipe) => self.recipe(recipe, &copy, deadline),
        }
    }

    /// Returns whether the fault shows in the recorded program, which the caller has rebuilt.
    pub(super) fn tests(&self) -> Result<bool> {
        self.command(None, self.deadline())
    }

    /// Creates the reports' folder. Until [`unwatch`](Self::unwatch), programs run with checks.
    pub(super) fn watch(&mut self) -> io::Result<PathBuf> {
        let reports = self.folder.file("reports");
        let _ = std::fs::remove_dir_all(&reports);
        std::fs::create_dir(&reports)?;
        self.reports = Some(reports.clone());
        Ok(reports)
    }

    pub(super) fn unwatch(&mut self) {
        self.reports = None;
    }

    fn deadline(&self) -> Instant {
        let slower = if self.reports.is_some() { SLOWER } else { 1 };
        Instant::now() + Duration::from_secs(self.args.timeout.saturating_mul(slower))
    }

    /// Sets where the checks of a program write their reports.
    fn ask_checks(&self, command: &mut Command) {
        if let Some(reports) = &self.reports {
            let options = format!("exitcode=0:json={}/%p.json", reports.display());
            command.env("TBAA_WITNESS", options);
        }
    }

    /// Sends a program's output to standard error if `is_shown` or `--verbose`, else discards it.
    fn show(&self, command: &mut Command, is_shown: bool) {
        match is_shown || self.args.verbose {
            true => command.stdout(io::stderr()).stderr(Stdio::inherit()),
            false => command.stdout(Stdio::null()).stderr(Stdio::null()),
        };
    }

    /// Runs the user's command. Exit status 0 means no fault, and 125 to 127 are errors. Any other
    /// status, a signal or a timeout shows the fault.
    fn command(&self, copy: Option<&Path>, deadline: Instant) -> Result<bool> {
        let mut words = self.args.command.clone();
        let is_named = words.iter().any(|word| has_placeholder(word));
        if let Some(copy) = copy {
            words.iter_mut().for_each(|word| *word = replace(word, copy));
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        let input = copy.filter(|_| !is_named).and_then(|copy| File::open(copy).ok());
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        self.ask_checks(&mut command);
        self.show(&mut command, false);
        let ended =
            run(&mut command, None, deadline).map_err(|error| cannot_run(&words[0], &error))?;
        match ended {
            Ended::Status(status) => match status.code() {
                Some(0) => Ok(false),
                Some(code @ 125..=127) => bail!(
                    "the command ended with status {code}, which says nothing of the fault; \
                     it must end with 0 where the fault is gone, and with 1 where it shows"
                ),
                _ => Ok(true),
            },
            Ended::TimedOut | Ended::TooMuchOutput => Ok(true),
        }
    }

    fn recipe(&mut self, recipe: Recipe, copy: &Path, deadline: Instant) -> Result<bool> {
        let outcome = self.outcome(recipe, copy, deadline)?;
        let Some(reference) = &self.reference else {
            match outcome {
                Outcome::NotCompiled(_) => bail!("the module does not compile without tags"),
                Outcome::Ran { ended: Ended::Status(_), .. } => {}
                Outcome::Ran { .. } => bail!(
                    "without tags the program does not end in time, or writes over 64 MB; see --timeout"
                ),
            }
            self.reference = Some(outcome);
            return Ok(false);
        };
        Ok(outcome != *reference)
    }

    fn outcome(&self, recipe: Recipe, copy: &Path, deadline: Instant) -> Result<Outcome> {
        let first = self.reference.is_none();
        let flags = &self.args.recipe_flags.0;
        let program = self.folder.file("program");
        let (mut compile, mut execute) = match recipe {
            Recipe::Run if self.reports.is_none() => {
                let mut compile = Command::new(tool("opt"));
                compile.args(flags).arg(copy).arg("-o").arg(&program);
                let mut execute = Command::new(tool("lli"));
                execute.arg(&program);
                (compile, execute)
            }
            recipe => {
                let by = clang();
                let flags: Vec<OsString> = match recipe {
                    Recipe::Run => vec!["-O1".into()],
                    Recipe::Native => flags.iter().map(Into::into).collect(),
                };
                let mut compile = command_of(&by);
                compile.args(["-Wno-override-module", "-x", "ir"]).arg(copy).args(&flags);
                if self.reports.is_some() {
                    compile.args(["-x", "none"]).args(runtime(&flags, &self.folder, &by)?);
                }
                compile.arg("-o").arg(&program);
                (compile, Command::new(&program))
            }
        };
        // Show the compiler's messages only for the copy without tags, or with `--verbose`.
        self.show(compile.stdin(Stdio::null()), first);
        let _ = std::fs::remove_file(&program);
        let ended = run(&mut compile, None, deadline)
            .map_err(|error| cannot_run_tool(compile.get_program(), &error))?;
        if !matches!(ended, Ended::Status(status) if status.success()) {
            return Ok(Outcome::NotCompiled(ended));
        }
        let [printed, errors] = ["output", "errors"].map(|name| self.folder.file(name));
        execute.args(&self.args.command).stdin(Stdio::null());
        self.ask_checks(&mut execute);
        // If lli cannot start a program, it says why on standard error.
        let is_lli = matches!(recipe, Recipe::Run) && first;
        let cannot = "cannot write the output of the program";
        execute.stdout(File::create(&printed).context(cannot)?);
        execute.stderr(match is_lli {
            true => File::create(&errors).context(cannot)?.into(),
            false => Stdio::null(),
        });
        let ended = run(&mut execute, Some(&printed), deadline).map_err(|error| match recipe {
            Recipe::Run => cannot_run_tool(execute.get_program(), &error),
            Recipe::Native => cannot_run(execute.get_program(), &error),
        })?;
        // A program that never ran shows nothing about the fault.
        if is_lli {
            let errors = std::fs::read(&errors).unwrap_or_default();
            if let Some(line) = lli_error(execute.get_program(), &errors) {
                bail!(
                    "lli cannot start the program: {}; give a module with `main` and all that it \
                     calls, or link the rest: see --recorded",
                    printable(line)
                );
            }
        }
        let output = match ended {
            Ended::Status(_) => std::fs::read(&printed)?,
            _ => Vec::new(),
        };
        Ok(Outcome::Ran { ended, output })
    }
}

/// Returns the line of lli's standard error that says why it cannot start a program, if any.
fn lli_error<'e>(lli: &OsStr, errors: &'e [u8]) -> Option<&'e [u8]> {
    let own = [lli.as_encoded_bytes(), b": "].concat();
    let mut lines = errors.split(|&byte| byte == b'\n');
    lines.find(|line| line.starts_with(b"JIT session error: ") || line.starts_with(&own))
}

fn cannot_run(program: &OsStr, error: &io::Error) -> Failure {
    Failure::unusable(format!("cannot run {}: {error}", program.display()))
}

fn cannot_run_tool(program: &OsStr, error: &io::Error) -> Failure {
    let or = "give a command in place of --recipe";
    Failure::unusable(tools::cannot_run(program.display(), error, or))
}

fn has_placeholder(argument: &OsStr) -> bool {
    argument.as_encoded_bytes().windows(2).any(|bytes| bytes == b"{}")
}

fn replace(argument: &OsStr, file: &Path) -> OsString {
    if !has_placeholder(argument) {
        return argument.to_owned();
    }
    argument.to_string_lossy().replace("{}", &file.to_string_lossy()).into()
}

#[derive(PartialEq, Eq, Clone, Copy, Debug)]
enum Ended {
    Status(ExitStatus),
    TimedOut,
    TooMuchOutput,
}

/// The largest size of a program's output file, in bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// Runs a program to its end. Kills the program at the deadline, or when its output in `file`
/// exceeds [`MOST_OUTPUT`]. On Unix also kills the programs that it started.
fn run(command: &mut Command, file: Option<&Path>, deadline: Instant) -> io::Result<Ended> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Status(status));
        }
        let size = file.and_then(|file| file.metadata().ok()).map_or(0, |file| file.len());
        let too_much = size > MOST_OUTPUT;
        let now = Instant::now();
        if too_much || now >= deadline {
            kill(&mut child)?;
            return Ok(if too_much { Ended::TooMuchOutput } else { Ended::TimedOut });
        }
        std::thread::sleep(pause.min(deadline - now));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn kill(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        // Use the shell's built-in `kill`: a minimal system has no program of that name.
        let kill = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
    }
    // Ignore the error: the program may have ended in the meantime.
    let _ = child.kill();
    child.wait().map(drop)
}
