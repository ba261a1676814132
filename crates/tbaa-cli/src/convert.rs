//! Converts inputs to LLVM assembly text: C and C++ with clang, bitcode with `llvm-dis`.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::compile_commands;
use crate::printable::{printable, printable_path};
use crate::progress;
use crate::report::{Failure, Result, bail, note};
use crate::tools::{cannot_run, clang, command_of, named, tool};

/// The input of a command.
#[derive(clap::Args)]
pub(crate) struct InputArg {
    /// A .ll, .bc, C or C++ file, a .ron spec, or `-`.
    #[arg(value_name = "INPUT")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    flags: FlagsArg,
}

/// The flags with which clang compiles inputs.
#[derive(clap::Args)]
pub(crate) struct FlagsArg {
    /// A folder whose `compile_commands.json` gives clang the flags for each C or C++ input.
    #[arg(short = 'p', long, value_name = "FOLDER")]
    pub(crate) build: Option<PathBuf>,
    /// Flags for clang, where the input is C or C++.
    #[arg(last = true, value_name = "CLANG_FLAGS")]
    flags: Vec<OsString>,
}

impl FlagsArg {
    pub(crate) fn of<'a>(&'a self, path: &'a Path) -> Origin<'a> {
        Origin { build: self.build.as_deref(), ..Origin::new(path, &self.flags) }
    }

    /// Returns the inputs that were named, or else the C and C++ files of the build.
    pub(crate) fn inputs(&self, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let Some(build) = self.build.as_ref().filter(|_| named.is_empty()) else {
            return Ok(named.to_vec());
        };
        let mut all = compile_commands::sources(build)?;
        all.retain(|path| is_source(path));
        if all.is_empty() {
            let build = printable_path(build);
            bail!("the compile_commands.json of {build} names no C or C++ file: name an input");
        }
        Ok(all)
    }

    /// Returns the input at `path`, with these flags if it is C or C++ or if none of `all` is.
    pub(crate) fn among<'a>(
        &'a self,
        path: &'a Path,
        mut all: impl Iterator<Item = &'a PathBuf>,
    ) -> Origin<'a> {
        let have = is_source(path) || !all.any(|path| is_source(path));
        Origin { flags: if have { &self.flags } else { &[] }, ..self.of(path) }
    }
}

/// Several flags in one argument.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) Vec<String>);

/// Splits flags as a shell does: `-O2 '-DX="a b"'`.
pub(crate) fn words(text: &str) -> Result<Words, &'static str> {
    shlex::split(text).map(Words).ok_or("a quote is not closed")
}

/// A path, and how clang has to compile the file there.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) path: &'a Path,
    flags: &'a [OsString],
    /// The folder whose `compile_commands.json` has flags for this file.
    build: Option<&'a Path>,
    as_written: bool,
    without_tags: bool,
}

impl<'a> From<&'a InputArg> for Origin<'a> {
    fn from(input: &'a InputArg) -> Self {
        input.flags.of(&input.path)
    }
}

impl<'a> Origin<'a> {
    pub(crate) fn new(path: &'a Path, flags: &'a [OsString]) -> Self {
        Origin { path, flags, build: None, as_written: false, without_tags: false }
    }

    /// Returns this input, to be compiled without LLVM's passes, which remove accesses.
    pub(crate) fn as_written(self) -> Self {
        Origin { as_written: true, ..self }
    }

    /// Returns this input, to be compiled without LLVM's passes and without tags.
    pub(crate) fn without_tags(self) -> Self {
        Origin { without_tags: true, ..self.as_written() }
    }

    /// Returns whether clang compiles the input. If not, flags for clang are an error.
    pub(crate) fn is_compiled(&self) -> Result<bool> {
        let is_source = is_source(self.path) || self.is_named_by_flag();
        if is_source || self.flags.is_empty() {
            return Ok(is_source);
        }
        Err(no_compiler(self.path, self.flags))
    }

    /// Returns whether standard input is C or C++ because of clang's flag `-x`.
    fn is_named_by_flag(&self) -> bool {
        let is_x = |flag: &OsString| flag.as_encoded_bytes().starts_with(b"-x");
        self.path.as_os_str() == "-" && self.flags.iter().any(is_x)
    }

    /// Compiles C or C++ to assembly text, with `-O1 -g` unless the flags override them. `text` is
    /// the source if the path is `-`.
    pub(crate) fn compile(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut command = command_of(&clang());
        command.args(["-O1", "-g"]);
        if self.as_written {
            command.args(["-Xclang", "-disable-llvm-passes"]);
        }
        let mut path = self.path.to_owned();
        let mut flags: Vec<OsString> = Vec::new();
        if let Some(build) = self.build {
            let (directory, of_build) = compile_commands::of(build, &path)?;
            // Run clang where the build ran it. Hide warnings, which the build has shown already.
            path = path.canonicalize().unwrap_or(path);
            command.current_dir(directory);
            flags.extend(of_build.into_iter().map(OsString::from));
            flags.push("-w".into());
        }
        flags.extend_from_slice(self.flags);
        if self.without_tags {
            flags.push("-fno-strict-aliasing".into());
        }
        // The last -O flag counts. Without optimisation clang writes no tags.
        let level = |flag: &&OsString| flag.as_encoded_bytes().starts_with(b"-O");
        if self.as_written && flags.iter().rfind(level).is_some_and(|level| level == "-O0") {
            flags.push("-O1".into());
        }
        command.args(flags);
        let file = printable_path(self.path);
        note(format!("compiling {file} with `{}`", shown(&command)));
        // If there are several -o flags, clang uses the last one.
        command.args(["-S", "-emit-llvm", "-o", "-"]).arg(path);
        let input = self.is_named_by_flag().then_some(text);
        run(command, "set CLANG to a clang", input)
    }
}

pub(crate) fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| matches!(extension, "c" | "cc" | "cpp" | "cxx" | "C" | "c++"))
}

/// Returns how to convert a file of another language, if its name tells the language.
pub(crate) fn how_to_make(path: &Path) -> Option<String> {
    let file = printable_path(path);
    Some(match path.extension()?.to_str()? {
        "rs" => {
            format!("`rustc --emit=llvm-ir {file}` writes assembly text, but rustc writes no tags")
        }
        "f" | "for" | "f90" | "f95" | "f03" | "f08" | "f18" => {
            format!("`flang -O2 -S -emit-llvm {file}` makes it")
        }
        "jl" => "`code_llvm(f, (Int,); raw=true, dump_module=true)` in Julia prints it".to_owned(),
        "swift" => format!("`swiftc -O -emit-ir {file}` prints it"),
        "hs" => format!("`ghc -O -fllvm -keep-llvm-files {file}` keeps it"),
        "zig" => format!("`zig build-obj -femit-llvm-ir {file}` writes it"),
        "m" | "mm" => format!("`clang -O2 -S -emit-llvm {file}` makes it"),
        _ => return None,
    })
}

/// Returns the error that flags for clang were given with an input that clang does not compile.
pub(crate) fn no_compiler(path: &Path, flags: &[impl AsRef<OsStr>]) -> Failure {
    let file = printable_path(path);
    let flags = joined(flags.iter().map(AsRef::as_ref));
    Failure::unusable(format!(
        "{file} is not C or C++, so no compiler runs that could take the flags `{flags}`; leave \
         them out"
    ))
}

/// Converts bitcode to text with `$LLVM_DIS`, or else with the llvm-dis that [`tool()`] finds.
pub(crate) fn disassemble(bitcode: &[u8]) -> Result<Vec<u8>> {
    let mut command = Command::new(named("LLVM_DIS").unwrap_or_else(|| tool("llvm-dis").into()));
    command.args(["-o", "-"]);
    run(command, "set LLVM_DIS to an llvm-dis", Some(bitcode))
}

/// Runs a tool and returns its standard output. The tool's messages go to standard error.
fn run(mut command: Command, remedy: &str, input: Option<&[u8]>) -> Result<Vec<u8>> {
    let name = shown(&command);
    let output = progress::aside(|| output_of(&mut command, input))
        .map_err(|error| Failure::unusable(cannot_run(&name, &error, remedy)))?;
    if !output.status.success() {
        bail!("{name} ended with {}", output.status);
    }
    Ok(output.stdout)
}

/// Runs a tool with this standard input, and captures its standard output.
pub(crate) fn output_of(command: &mut Command, input: Option<&[u8]>) -> io::Result<Output> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).spawn()?;
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        // The tool may end before it reads everything. It then prints the reason itself.
        scope.spawn(move || pipe.zip(input).map(|(mut pipe, input)| pipe.write_all(input)));
        child.wait_with_output()
    })
}

/// Returns a command as it is typed, but without quotes.
fn shown(command: &Command) -> String {
    joined([command.get_program()].into_iter().chain(command.get_args()))
}

fn joined<'w>(words: impl Iterator<Item = &'w OsStr>) -> String {
    words.map(|word| printable(word.as_encoded_bytes())).collect::<Vec<_>>().join(" ")
}
