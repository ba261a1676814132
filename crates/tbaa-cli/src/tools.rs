//! Finds the programs of LLVM to run, and says what to install if there are none.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io};

use tbaa_plugin::LLVM;

/// Returns `$CLANG`, or else the clang that [`tool()`] finds.
pub(crate) fn clang() -> OsString {
    named("CLANG").unwrap_or_else(|| tool("clang").into())
}

/// Returns the value of an environment variable, unless it is empty.
pub(crate) fn named(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|named| !named.is_empty())
}

/// Returns a program's name for LLVM 22 if that is on the path, or else for the newest version. If
/// there is none, running the returned name fails, and [`cannot_run()`] says what to install.
pub(crate) fn tool(name: &str) -> String {
    installed(name).unwrap_or_else(|| format!("{name}-{LLVM}"))
}

/// Like [`tool()`], but returns `None` if no version of the program is on the path.
pub(crate) fn installed(name: &str) -> Option<String> {
    let preferred = format!("{name}-{LLVM}");
    if is_on_path(&preferred) {
        return Some(preferred);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).filter_map(|folder| fs::read_dir(folder).ok());
    let files = folders.flatten().filter_map(|file| file.ok()?.file_name().into_string().ok());
    let version_of = |file: &str| file.strip_prefix(name)?.strip_prefix('-')?.parse().ok();
    let versioned = files.filter_map(|file| Some((version_of(&file)?, file)));
    let plain = is_on_path(name).then(|| (version(Command::new(name)), name.to_owned()));
    let all = versioned.filter(|(_, file)| is_on_path(file)).chain(plain);
    all.max().map(|(_, file)| file)
}

/// Returns the major version that a program of LLVM prints, or 0 if it prints none.
pub(crate) fn version(mut program: Command) -> u32 {
    let output = program.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let printed = output.map(|output| output.stdout).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let number = printed.split_once(" version ").and_then(|(_, rest)| rest.split('.').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

pub(crate) fn is_on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Returns the command in a variable's value, which may have arguments: `ccache clang-22`.
pub(crate) fn command_of(named: &OsStr) -> Command {
    let words = named.to_str().filter(|_| !Path::new(named).is_file()).and_then(shlex::split);
    let mut words = words.unwrap_or_default().into_iter();
    let mut command = words.next().map_or_else(|| Command::new(named), Command::new);
    command.args(words);
    command
}

/// The advice to install the packages for C, C++, bitcode and LLVM's passes.
pub(crate) const INSTALL: &str =
    "install clang and LLVM 22 (on Debian `apt-get install clang-22 llvm-22`)";

/// Returns the message that a program cannot be run, what to install, and the alternative `or`.
pub(crate) fn cannot_run(program: impl Display, error: &io::Error, or: &str) -> String {
    format!("cannot run {program}: {error}; {INSTALL}, or {or}")
}
