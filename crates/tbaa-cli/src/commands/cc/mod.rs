//! `tbaa cc` and `tbaa c++`: run clang and add run-time checks of TBAA tags to the program.

mod line;
pub(crate) mod record;
mod runtime;

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use tbaa_instrument::{Form, instrument};

use crate::convert::{Words, words};
use crate::report::{Context, Failure, Result, bail, note, refuse_input};
use crate::scratch::Folder;
use crate::tools::{INSTALL, cannot_run, clang, command_of, version};
use line::{Line, Task, Word};
use record::{Recording, Step};

/// Compiles C as clang does, with run-time checks of tags.
///
/// Put it in a compiler's place: CC="tbaa cc" CXX="tbaa c++" ./configure && make. It compiles by clang
/// (`$CLANG`, or else clang-22 or the newest clang; 15 at least), puts a check before each tagged access, and
/// links `libtbaa_witness`. Assembly and other languages are compiled without checks, and a note says so. All
/// arguments are clang's, but these: `--record DIR` as the first one, or `TBAA_RECORD=DIR`, compiles without
/// checks and records the modules for `tbaa bisect --recorded DIR`. A compiler's path may replace `cc` or `c++`,
/// as `CMAKE_C_COMPILER_LAUNCHER=tbaa` and `CMAKE_C_LINKER_LAUNCHER=tbaa` want it.
#[derive(clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  make CC='tbaa cc' CXX='tbaa c++'
  tbaa cc -O2 -c prog.c -o prog.o && tbaa cc prog.o -o prog && ./prog
  make CC='tbaa cc --record /tmp/build' && tbaa bisect --recorded /tmp/build -- ./test.sh

Exit status: clang's"
)]
pub(crate) struct Cc {
    /// The arguments for clang.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

/// The exit status of clang or of the compiled program, which this program returns as its own.
pub(crate) type Status = u8;

pub(super) fn run(args: &Cc, plus_plus: bool) -> Result<Status> {
    let (by, arguments) = match &args.arguments[..] {
        [flag, by, rest @ ..] if flag == BY => (by.clone(), rest),
        rest => (clang(), rest),
    };
    let (recording, arguments) = Recording::requested(arguments)?;
    let line = Line::read(arguments)?;
    if let Some(output) = &line.output {
        let inputs = line.words.iter().filter_map(|word| match word {
            Word::Source { path, .. } => Some(path.as_path()),
            Word::Input(path) => Some(Path::new(path)),
            Word::Flag(_) => None,
        });
        refuse_input(output, inputs)?;
    }
    let driver = Driver { plus_plus, clang: &by, version: &OnceCell::new() };
    let end = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (flags, files) = arguments.split_at(end);
    if line.task == Task::Other {
        if line.has("--help") || line.has("-help") {
            note("`tbaa cc` is clang with run-time checks: `tbaa help cc`; this is clang's help:");
        }
        let headers = line.sources().next().map(|_| runtime::include());
        let headers = headers.unwrap_or_default();
        return finish(driver.command().args(flags).args(headers).args(files));
    }
    if let Some(other) = line.other_sanitizer() {
        bail!(
            "{other} cannot be together with checks of tags, for both need the same addresses, \
             functions or bytes before a function: build without it"
        );
    }
    if line.task == Task::Header {
        // A precompiled header needs the same flags as the sources that include it.
        let checked = Job::as_checked(&line);
        let more = checked.map(OsString::from).chain(runtime::include());
        return finish(driver.command().args(flags).args(more).args(files));
    }
    let folder = Folder::new()?;
    let job = Job { line: &line, driver, folder: &folder, recording: recording.as_ref() };
    for word in &line.words {
        if let Word::Input(path) = word
            && let Some(what) = unchecked(path, &line)
        {
            note(format!("{} is compiled without checks: {what}", path.display()));
        }
    }
    match line.task {
        Task::Compile => job.compile_all(),
        _ => job.link(),
    }
}

/// Returns why an input is compiled without checks; `None` for others, such as object files.
fn unchecked(path: &OsStr, line: &Line) -> Option<&'static str> {
    let extension = Path::new(path).extension().and_then(OsStr::to_str)?;
    match extension {
        "s" | "S" | "sx" => Some("it is assembly"),
        "m" | "mm" | "M" => Some("it is Objective-C"),
        "cu" | "cl" | "hip" | "f" | "f90" | "rs" | "d" | "go" => Some("it is another language"),
        "ll" | "bc" if line.task == Task::Compile => {
            Some("it is a module of LLVM's; `tbaa instrument` puts checks into one")
        }
        _ => None,
    }
}

/// The flag with which clang writes no tags.
const NO_ALIASING: &str = "-fno-strict-aliasing";

/// The flag of this program that names the clang to use.
const BY: &str = "--by";

/// Returns this program's arguments. A compiler launcher's call `tbaa /usr/bin/clang++ -c a.cc`
/// becomes `tbaa c++ --by /usr/bin/clang++ -c a.cc`. If the call names GCC or `/usr/bin/cc`, the
/// default clang runs, for the target in a name such as `x86_64-linux-gnu-gcc-12`.
pub(crate) fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let named = arguments.get(1).map(PathBuf::from).unwrap_or_default();
    let name = named.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = name.trim_end_matches(|byte: char| byte.is_ascii_digit() || ".-".contains(byte));
    let (machine, plain) = match plain.rsplit_once('-') {
        Some((machine, plain)) => (Some(machine), plain),
        None => (None, plain),
    };
    let command = if plain.ends_with("++") { "c++" } else { "cc" };
    let mut new: Vec<OsString> = vec![command.into()];
    match plain {
        "clang" | "clang++" => new.extend([OsString::from(BY), named.into()]),
        // `cc` and `c++` without a folder are commands of this program.
        "cc" | "c++" if named.as_os_str() == plain => return arguments,
        "cc" | "c++" | "gcc" | "g++" => {
            new.extend(machine.map(|machine| OsString::from(format!("--target={machine}"))));
        }
        _ => return arguments,
    }
    arguments.splice(1..2, new);
    arguments
}

#[derive(Clone, Copy)]
struct Driver<'d> {
    plus_plus: bool,
    clang: &'d OsStr,
    /// Clang's major version, once it has been asked for.
    version: &'d OnceCell<u32>,
}

impl Driver<'_> {
    fn command(self) -> Command {
        let mut command = command_of(self.clang);
        if self.plus_plus {
            command.arg("--driver-mode=g++");
        }
        command
    }

    fn version(self) -> u32 {
        *self.version.get_or_init(|| version(command_of(self.clang)))
    }
}

/// Runs clang with this program's standard output and error, and returns clang's exit status.
fn finish(command: &mut Command) -> Result<Status> {
    let status = command.status().map_err(|error| {
        let name = command.get_program().display();
        Failure::unusable(cannot_run(name, &error, "set CLANG to a clang"))
    })?;
    Ok(code(status))
}

/// Returns a program's exit status, or 128 plus the number of the signal that ended it.
fn code(status: ExitStatus) -> Status {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

struct Job<'j> {
    line: &'j Line,
    driver: Driver<'j>,
    folder: &'j Folder,
    recording: Option<&'j Recording>,
}

/// Returns early with clang's exit status if it is not 0.
macro_rules! check {
    ($status:expr) => {
        match $status? {
            0 => {}
            status => return Ok(status),
        }
    };
}

impl Job<'_> {
    fn compile_all(&self) -> Result<Status> {
        let sources = self.line.sources().count();
        if self.line.output.is_some() && sources > 1 {
            // `-o` with several sources is an error, which clang reports.
            return finish(self.driver.command().args(self.plain(|_| true)));
        }
        for (path, language) in self.line.sources() {
            let to = self.line.output.clone().unwrap_or_else(|| self.default_output(path));
            check!(self.compile(path, language, &to, &to));
        }
        if !self.line.words.iter().any(|word| matches!(word, Word::Input(_))) {
            return Ok(0);
        }
        let others = self.plain(|word| !matches!(word, Word::Source { .. }));
        finish(self.driver.command().args(others))
    }

    /// Returns the name that clang would give to the output of `source`.
    fn default_output(&self, source: &Path) -> PathBuf {
        let name = source.file_name().unwrap_or(OsStr::new("-"));
        Path::new(name).with_extension(match (self.line.has("-S"), self.line.has("-emit-llvm")) {
            (true, false) => "s",
            (true, true) => "ll",
            (false, false) => "o",
            (false, true) => "bc",
        })
    }

    /// Returns the words of the command line that `is_kept` accepts, and `-o` if it was given.
    fn plain(&self, is_kept: impl Fn(&Word) -> bool) -> Vec<OsString> {
        let kept = self.line.words.iter().filter(|word| is_kept(word));
        kept.flat_map(plain).chain(self.output()).collect()
    }

    fn output(&self) -> Vec<OsString> {
        self.line.output.iter().flat_map(|output| ["-o".into(), output.into()]).collect()
    }

    /// Compiles one source to the file `to`. Dependency rules name `named` as their target.
    fn compile(
        &self,
        source: &Path,
        language: Option<&OsStr>,
        to: &Path,
        named: &Path,
    ) -> Result<Status> {
        // Clang derives the names of other output files from the name of `text`.
        let stem = source.file_stem().filter(|stem| *stem != "-").unwrap_or(OsStr::new("module"));
        let text = self.folder.file(&format!("{}.ll", stem.display()));
        let mut front = self.front(source, language, &text, named);
        let is_aliasing = |arg: &&OsStr| *arg == NO_ALIASING || *arg == "-fstrict-aliasing";
        let has_no_tags = front.get_args().filter(is_aliasing).last() == Some(NO_ALIASING.as_ref());
        check!(finish(&mut front));
        let module = match self.recording {
            Some(recording) => recording.keep(&text)?,
            None => {
                self.instrument(source, &text, has_no_tags)?;
                text.clone()
            }
        };
        let mut back = self.back();
        let step = self.recording.map(|recording| (recording, Step::of(&back, Some(&module), to)));
        let status = finish(back.arg(&module).arg("-o").arg(to))?;
        if self.line.saves_temporaries() {
            self.name_temporaries(&text, to, named);
        }
        if let Some((recording, step)) = step.filter(|_| status == 0) {
            recording.add(&step?)?;
        }
        Ok(status)
    }

    /// Moves the files of `-save-temps` to the names that a single run of clang would use.
    fn name_temporaries(&self, text: &Path, to: &Path, named: &Path) {
        let is_beside = self.line.has("-save-temps=obj") || self.line.has("--save-temps=obj");
        let folder = |of: &Path| {
            let parent = of.parent().filter(|_| is_beside);
            parent.unwrap_or(Path::new("")).join(text.file_name().unwrap_or_default())
        };
        let (front, back, place) = (folder(text), folder(to), folder(named));
        for (made, from, extension) in
            [(&front, "i", "i"), (&front, "ii", "ii"), (&front, "tmp.bc", "bc"), (&back, "s", "s")]
        {
            let (made, place) = (made.with_extension(from), place.with_extension(extension));
            let _ = fs::rename(&made, &place).or_else(|_| fs::copy(made, place).map(drop));
        }
        if self.line.task == Task::Link {
            let _ = fs::copy(to, place.with_extension("o"));
        }
    }

    /// Returns the flags that checks need and the command line does not have.
    fn as_checked(line: &Line) -> impl Iterator<Item = &'static str> {
        // Without optimisation clang writes no tags.
        let level = line.flags().rfind(|flag| line::is_level(&flag[0]));
        let level = level.is_none_or(|level| level[0] == "-O0");
        let debug = line.flags().any(|flag| flag[0].as_encoded_bytes().starts_with(b"-g"));
        // Clang warns when it assembles its own assembly text with DWARF 5 line tables.
        let old = !debug && line.saves_temporaries();
        let lines = (!debug).then_some("-gline-tables-only");
        [level.then_some("-O1"), lines, old.then_some("-gdwarf-4")].into_iter().flatten()
    }

    fn flags_but(&self, skipped: &[&str]) -> impl Iterator<Item = &[OsString]> {
        self.line.flags().filter(move |flag| !skipped.iter().any(|skipped| flag[0] == *skipped))
    }

    /// Returns the prefix of the names of extra files that clang writes when it compiles and links.
    fn prefix(&self) -> String {
        let output = self.line.output.as_deref().and_then(Path::file_name);
        format!("{}-", output.unwrap_or(OsStr::new("a")).display())
    }

    /// Returns the command that runs clang's front end: source to unoptimised LLVM assembly.
    fn front(&self, source: &Path, language: Option<&OsStr>, to: &Path, named: &Path) -> Command {
        let mut command = self.driver.command();
        let line = self.line;
        let kept = self.flags_but(&["-c", "-S", "-x", "-emit-llvm", "-pipe"]);
        command.args(kept.flatten()).args(Job::as_checked(line)).args(runtime::include());
        let counts = ["--coverage", "-coverage", "-fprofile-arcs", "-ftest-coverage"];
        if counts.iter().any(|count| line.has(count)) {
            // Name coverage files as one run of clang would, not after the module.
            let mut place = std::path::absolute(named).unwrap_or_default();
            if line.task == Task::Link {
                let name = to.file_name().unwrap_or_default().to_string_lossy();
                place.set_file_name(self.prefix() + &name);
            }
            for (kind, extension) in [("notes", "gcno"), ("data", "gcda")] {
                let file = place.with_extension(extension);
                let flag = format!("-coverage-{kind}-file={}", file.display());
                command.arg("-Xclang").arg(flag);
            }
        }
        // Dependency rules must have `named` as their target, not the module.
        let says = |flag: &str| line.flags().any(|of| of[0].to_string_lossy().starts_with(flag));
        let wants = says("-MD") || says("-MMD");
        if wants && !says("-MF") {
            command.arg("-MF").arg(named.with_extension("d"));
        }
        if (wants || says("-Wp,-MD") || says("-Wp,-MMD")) && !says("-MT") && !says("-MQ") {
            command.arg("-MQ").arg(named);
        }
        // `-fsanitize=function` puts bytes before a function, where instrumented code has a marker.
        command.arg("-fno-sanitize=function");
        command.args(["-Qunused-arguments", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"]);
        if let Some(language) = language {
            command.arg("-x").arg(language);
        }
        command.arg("-o").arg(to).arg(source);
        command
    }

    /// Returns the command that runs clang's back end. The caller adds the module and the output.
    fn back(&self) -> Command {
        let mut command = self.driver.command();
        let kept = self.flags_but(&["-x", "-pipe"]);
        command.args(kept.filter(|flag| !line::is_front(flag)).flatten());
        if self.line.task == Task::Link {
            let folder = self.line.output.as_deref().and_then(Path::parent);
            let prefix = folder.unwrap_or(Path::new("")).join(self.prefix());
            command.arg("-c");
            // Clang 17 and later know `-dumpdir`. Older ones name extra files after the object.
            if self.driver.version() >= 17 {
                command.arg("-dumpdir").arg(prefix);
            }
        }
        command.args(["-Qunused-arguments", "-Wno-override-module", "-x", "ir"]);
        command
    }

    fn instrument(&self, source: &Path, file: &Path, has_no_tags: bool) -> Result {
        let text = fs::read(file).context(file.display())?;
        let checked = tbaa_ir::read(&text).and_then(|module| instrument(&module, Form::Assembly));
        let why = match checked {
            Ok(checked) => {
                fs::write(file, checked.text).context(file.display())?;
                // A configure script that tries `-fno-strict-aliasing` takes any output for a
                // refusal, so print nothing if the module got no calls of the runtime.
                let is_told = has_no_tags && checked.calls > 0;
                is_told.then(|| format!("{NO_ALIASING} leaves out all tags"))
            }
            Err(error) => {
                let clang = self.driver.version();
                if (1..15).contains(&clang) {
                    bail!(
                        "this is clang {clang}, and checks at run time need clang 15 or newer: {INSTALL}"
                    );
                }
                Some(error.kind.to_string())
            }
        };
        if let Some(why) = why {
            note(format!("{} is compiled without checks: {why}", source.display()));
        }
        Ok(())
    }

    fn link(&self) -> Result<Status> {
        let mut command = self.driver.command();
        let linked = self.line.output.clone().unwrap_or_else(|| "a.out".into());
        for (number, word) in self.line.words.iter().enumerate() {
            match word {
                Word::Source { path, language } => {
                    let object = match self.recording {
                        Some(recording) => recording.object(path)?,
                        None => self.folder.file(&format!("{number}.o")),
                    };
                    check!(self.compile(path, language.as_deref(), &object, &linked));
                    command.arg(object);
                }
                // `-x` was for the sources, which are now objects.
                Word::Flag(words) if words[0] == "-x" => {}
                word => drop(command.args(plain(word))),
            }
        }
        command.args(self.output());
        if self.recording.is_none() {
            command.args(runtime::flags(self.line, self.folder, self.driver.clang)?);
        }
        let status = finish(&mut command)?;
        if let Some(recording) = self.recording.filter(|_| status == 0) {
            recording.add(&Step::of(&command, None, &linked)?)?;
        }
        Ok(status)
    }
}

/// Returns the flags that link the checks' runtime library, if clang links with `arguments`.
pub(super) fn runtime(
    arguments: &[OsString],
    folder: &Folder,
    clang: &OsStr,
) -> Result<Vec<OsString>> {
    let line = Line::read(arguments)?;
    match line.other_sanitizer() {
        Some(other) => Err(Failure::unusable(format!("the program is built with {other}"))),
        None => runtime::flags(&line, folder, clang),
    }
}

fn plain(word: &Word) -> Vec<OsString> {
    match word {
        Word::Flag(words) => words.clone(),
        Word::Source { path, .. } => vec![path.clone().into()],
        Word::Input(word) => vec![word.clone()],
    }
}

/// Compiles a C or C++ file with checks, and runs the program.
///
/// Options are in the environment variable `TBAA_WITNESS`, see the guide witness.md. By default a write and a later
/// read by another type are reported, and two writes by two types in one function are a warning. Not looked for by
/// default are a read and a later write over what it read (`TBAA_WITNESS=reuse=1`), and a write over a write in two
/// functions (`TBAA_WITNESS=report_stores=1`): C allows these where memory is used again, and clang may break them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa run prog.c
  tbaa run prog.cpp --flags '-O2 -Iinclude -lm' -- arguments of the program

Exit status: the program's, or 128 and the signal that ended it; 66 where something was reported")]
pub(crate) struct Run {
    /// A C or C++ file, or a module (.ll or .bc) as its front end makes it.
    pub(crate) source: PathBuf,
    /// Flags for clang, quoted as in a shell.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, value_parser = words)]
    pub(crate) flags: Vec<Words>,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<OsString>,
}

pub(super) fn run_file(args: &Run) -> Result<Status> {
    let folder = Folder::new()?;
    let program = folder.file("program");
    let extension = args.source.extension().and_then(OsStr::to_str).unwrap_or("c");
    let plus_plus = !matches!(extension, "c" | "i");
    // Debug information has the typedef names of unnamed structs.
    let mut arguments: Vec<OsString> = vec!["-g".into()];
    arguments.extend(args.flags.iter().flat_map(|flag| &flag.0).map(OsString::from));
    if !arguments.iter().any(|flag| line::is_level(flag)) {
        arguments.insert(0, "-O1".into());
    }
    if matches!(extension, "ll" | "bc") {
        arguments.extend(["-Wno-override-module".into(), "-x".into(), "ir".into()]);
    }
    arguments.extend([args.source.clone().into(), "-o".into(), program.clone().into()]);
    check!(run(&Cc { arguments }, plus_plus));
    let status = Command::new(&program).args(&args.arguments).status();
    status.map(code).context(format_args!("cannot run {}", program.display()))
}
