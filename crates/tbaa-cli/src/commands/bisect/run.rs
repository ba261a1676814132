//! Running the command on a copy of the module, within a time limit.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a program ended.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub(super) enum Ended {
    Status(ExitStatus),
    TimedOut,
    /// It wrote more than [`MOST_OUTPUT`].
    TooMuchOutput,
}

/// What a program may write to a file, in bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// Where a program's standard output goes.
pub(super) enum Output<'p> {
    Nowhere,
    /// To standard error, as its own standard error.
    Error,
    File(&'p Path),
    /// The same, and its standard error to another.
    Files(&'p Path, &'p Path),
}

/// Runs a program to its end, or to the deadline; then it is killed, with the
/// programs that it started.
pub(super) fn run(
    command: &mut Command,
    output: &Output<'_>,
    deadline: Instant,
) -> io::Result<Ended> {
    match output {
        Output::Nowhere => command.stdout(Stdio::null()).stderr(Stdio::null()),
        Output::Error => command.stdout(io::stderr()).stderr(Stdio::inherit()),
        Output::File(file) => command.stdout(File::create(file)?).stderr(Stdio::null()),
        Output::Files(file, errors) => {
            command.stdout(File::create(file)?).stderr(File::create(errors)?)
        }
    };
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Status(status));
        }
        let too_much = match output {
            Output::File(file) | Output::Files(file, _) => {
                file.metadata().is_ok_and(|file| file.len() > MOST_OUTPUT)
            }
            _ => false,
        };
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
        // The shell's own: a bare system has no program of that name.
        let kill = format!("kill -s KILL -- -{}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).status();
    }
    // It may have ended in the meantime.
    let _ = child.kill();
    child.wait().map(drop)
}
