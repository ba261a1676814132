//! Assembly text of what is none: C and C++ through clang, bitcode through `llvm-dis`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::printable::printable;
use crate::progress;
use crate::report::{Failure, note};

/// The input of a command.
#[derive(clap::Args)]
pub(crate) struct InputArg {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    #[arg(value_name = "INPUT")]
    path: PathBuf,
    #[command(flatten)]
    flags: FlagsArg,
}

/// How clang is to compile inputs.
#[derive(clap::Args)]
pub(crate) struct FlagsArg {
    /// Flags for clang, where the input is C or C++.
    #[arg(last = true, value_name = "CLANG_FLAGS")]
    flags: Vec<OsString>,
}

impl FlagsArg {
    /// An input with these flags.
    pub(crate) fn of<'a>(&'a self, path: &'a Path) -> Origin<'a> {
        Origin { path, flags: &self.flags, unoptimized: false }
    }
}

/// A path, and how clang is to compile what is there.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a Path,
    pub(crate) flags: &'a [OsString],
    /// Whether the module is wanted as clang's front end makes it.
    pub(crate) unoptimized: bool,
}

impl<'a> From<&'a Path> for Origin<'a> {
    fn from(path: &'a Path) -> Self {
        Origin { path, flags: &[], unoptimized: false }
    }
}

impl<'a> From<&'a PathBuf> for Origin<'a> {
    fn from(path: &'a PathBuf) -> Self {
        path.as_path().into()
    }
}

impl<'a> From<&'a InputArg> for Origin<'a> {
    fn from(input: &'a InputArg) -> Self {
        input.flags.of(&input.path)
    }
}

impl Origin<'_> {
    /// Returns whether clang compiles a file of this name.
    pub(crate) fn is_source(&self) -> bool {
        let extension = self.path.extension().and_then(OsStr::to_str);
        extension.is_some_and(|it| matches!(it, "c" | "cc" | "cpp" | "cxx" | "C" | "c++"))
    }

    /// Compiles C or C++ to assembly text, as clang's `-O1 -g` does if the flags
    /// do not say otherwise.
    pub(crate) fn compile(&self) -> Result<Vec<u8>, Failure> {
        let mut command = Command::new(clang());
        command.args(["-O1", "-g"]);
        if self.unoptimized {
            command.args(["-Xclang", "-disable-llvm-passes"]);
        }
        command.args(self.flags);
        note(format!("{} {} makes assembly text of it", shown(&command), self.path.display()));
        // The last of several -o is the one that counts.
        command.args(["-S", "-emit-llvm", "-o", "-"]).arg(self.path);
        run(command, "set CLANG to a clang", None)
    }
}

/// Returns `$CLANG`, or else the first that is there of `clang` and `clang-22`.
pub(crate) fn clang() -> OsString {
    tool("CLANG", ["clang", "clang-22"])
}

/// Makes assembly text of bitcode, by `$LLVM_DIS`, or else `llvm-dis-22` or
/// `llvm-dis`: a new one reads old bitcode, and the other way it does not.
pub(crate) fn disassemble(bitcode: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut command = Command::new(tool("LLVM_DIS", ["llvm-dis-22", "llvm-dis"]));
    command.args(["-o", "-"]);
    run(command, "bitcode needs `llvm-dis`: set LLVM_DIS to one", Some(bitcode))
}

fn tool(variable: &str, names: [&str; 2]) -> OsString {
    if let Some(named) = env::var_os(variable).filter(|named| !named.is_empty()) {
        return named;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&str| env::split_paths(&path).any(|folder| folder.join(name).is_file());
    names.into_iter().find(is_there).unwrap_or(names[0]).into()
}

/// Runs a tool, which says on standard error itself what it does not like.
fn run(mut command: Command, remedy: &str, input: Option<&[u8]>) -> Result<Vec<u8>, Failure> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let name = shown(&command);
    let work = || -> io::Result<_> {
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).spawn()?;
        let pipe = child.stdin.take();
        std::thread::scope(|scope| {
            // A tool may end without reading all, and says why itself.
            scope.spawn(move || pipe.zip(input).map(|(mut pipe, input)| pipe.write_all(input)));
            child.wait_with_output()
        })
    };
    let output = progress::aside(work)
        .map_err(|error| Failure::unusable(format!("cannot run {name}: {error}; {remedy}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::unusable(format!("{name} ended with {}", output.status)))
}

/// A command as it is typed, but for quotes.
fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.map(|word| printable(word.as_encoded_bytes())).collect();
    words.join(" ")
}
