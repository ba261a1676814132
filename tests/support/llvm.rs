//! Asking the real LLVM 22, through `tests/llvm/aa.cpp` and its own tools.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes that one thread makes and all read.
type Once = Arc<OnceLock<Vec<u8>>>;

/// The tools of LLVM 22, or the reason why they are missing.
///
/// Without them the comparisons print that they are skipped, unless `TBAA_LLVM` is `require`, as in
/// the README's test command.
pub struct Llvm {
    /// clang's texts, by source file and options.
    modules: Mutex<HashMap<(PathBuf, String), Once>>,
}

impl Llvm {
    pub fn get() -> Option<&'static Llvm> {
        static LLVM: OnceLock<Option<Llvm>> = OnceLock::new();
        let start = || {
            let version = Command::new("clang-22").arg("--version").output();
            let found = version.map(|_| Llvm { modules: Mutex::default() });
            usable(found.map_err(|error| format!("clang-22: {error}")))
        };
        LLVM.get_or_init(start).as_ref()
    }

    fn program(&self) -> Program {
        Program::get("aa").unwrap_or_else(|| panic!("LLVM 22 is only in part usable"))
    }

    /// Returns the output of `aa COMMAND FILE`, of `tests/llvm/aa.cpp`.
    pub fn aa(&self, arguments: &[&str], file: &Path) -> String {
        self.program().ask(arguments, file)
    }

    /// Does the same; `None` if a signal ended the program: LLVM reads an operand as a node that is
    /// not one, and the result depends on the memory there.
    pub fn aa_unless_killed(&self, arguments: &[&str], file: &Path) -> Option<String> {
        let output = self.program().run(arguments, file);
        output.status.code()?;
        Some(text_of(output, &format!("aa {arguments:?} {}", file.display())))
    }

    /// Returns clang's text of a source file, as a module. Each test program compiles a file only
    /// once in each way.
    pub fn clang(&self, source: &Path, options: &[&str]) -> Vec<u8> {
        let module = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.entry((source.to_owned(), options.join(" "))).or_default().clone()
        };
        module.get_or_init(|| compile(source, options)).clone()
    }

    /// Panics unless `llvm-as-22` accepts the text.
    pub fn assemble(&self, name: &str, text: &str) {
        let file = scratch(name, text.as_bytes());
        let output = Command::new("llvm-as-22").args(["-o", "/dev/null"]).arg(&file).output();
        text_of(output.unwrap(), &format!("llvm-as-22 {}", file.display()));
    }

    /// Returns the module that `llvm-link-22` makes from modules' texts.
    pub fn link(&self, files: &[PathBuf]) -> Vec<u8> {
        let output = Command::new("llvm-link-22").arg("-S").args(files).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

/// LLVM's answer on two accesses of a function, by its pass `aa-eval`.
pub struct Evaluated {
    pub function: String,
    /// `NoAlias`, `MayAlias` and others.
    pub answer: String,
    /// The instructions, as LLVM prints them without metadata.
    pub pair: [String; 2],
}

/// Returns the answers of an `opt`'s pass `aa-eval` on a module, which LLVM's verifier must accept:
/// on each pair of accesses, or as the arguments `print` say. `None` if there is no such program.
pub fn aa_eval(opt: &str, print: &[&str], pipeline: &str, file: &Path) -> Option<Vec<Evaluated>> {
    let output = Command::new(opt)
        .args(["-disable-output", "-passes=verify,aa-eval", "-evaluate-aa-metadata"])
        .args(if print.is_empty() { &["-print-all-alias-modref-info"] } else { print })
        .arg(format!("-aa-pipeline={pipeline}"))
        .arg(file)
        .output()
        .ok()?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{opt} {}: {printed}", file.display());
    let (mut found, mut function) = (Vec::new(), "");
    for line in printed.lines() {
        if let Some(rest) = line.strip_prefix("Function: ") {
            function = rest.split(':').next().unwrap();
        } else if let Some((answer, pair)) = line.trim().split_once(':')
            && let Some((a, b)) = pair.split_once(" <-> ")
        {
            let bare = |text: &str| text.split(", !").next().unwrap().trim().to_owned();
            let (function, answer) = (function.to_owned(), answer.to_owned());
            found.push(Evaluated { function, answer, pair: [bare(a), bare(b)] });
        }
    }
    assert!(!found.is_empty() || !printed.contains("<->"), "{opt}: {printed:.300}");
    Some(found)
}

/// The number that a store stores.
pub fn stored(store: &str) -> usize {
    let value = store.strip_prefix("store ").and_then(|rest| rest.split(',').next());
    let number = value.and_then(|value| value.rsplit(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no store of a number: {store}"))
}

/// Writes a file of this test's own: the tests of a program run side by side, and
/// each has a thread that is named after it.
pub fn scratch(name: &str, content: &[u8]) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("no test").replace("::", "-");
    let file = folder().join(test).join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    file
}

/// The four ways in which the corpus is compiled.
pub const WAYS: [(&str, &[&str]); 4] = [
    ("O1-old", &["-O1", "-Xclang", "-disable-llvm-passes"]),
    ("O1-new", &["-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-new-struct-path-tbaa"]),
    ("O2-old", &["-O2"]),
    ("O2-new", &["-O2", "-Xclang", "-new-struct-path-tbaa"]),
];

/// The C and C++ files of the corpus.
pub fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(crate::ROOT).join("tests/corpus");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp")).collect();
    sources.sort();
    assert!(sources.len() >= 15);
    sources
}

fn compile(source: &Path, options: &[&str]) -> Vec<u8> {
    let cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let clang = if cpp { "clang++-22" } else { "clang-22" };
    let output = Command::new(clang)
        .args(["-S", "-emit-llvm", "-o", "-", "-w"])
        .args(options)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{clang} {options:?} {}", source.display());
    output.stdout
}

/// A program of `tests/llvm`, compiled against LLVM 22.
#[derive(Clone)]
pub struct Program(PathBuf);

impl Program {
    /// The program, unless LLVM 22 is neither there nor required.
    pub fn get(name: &'static str) -> Option<Program> {
        static BUILT: Mutex<BTreeMap<&str, Option<Program>>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        built.entry(name).or_insert_with(|| usable(build(name)).map(Program)).clone()
    }

    /// Returns the output of the program.
    pub fn ask(&self, arguments: &[&str], file: &Path) -> String {
        let output = self.run(arguments, file);
        text_of(output, &format!("{} {arguments:?} {}", self.0.display(), file.display()))
    }

    fn run(&self, arguments: &[&str], file: &Path) -> Output {
        Command::new(&self.0).args(arguments).arg(file).output().unwrap()
    }

    /// Returns its output without a file, on standard output and on standard error.
    pub fn list(&self) -> [String; 2] {
        let output = Command::new(&self.0).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    }
}

fn usable<T>(found: Result<T, String>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(why) if std::env::var("TBAA_LLVM").is_ok_and(|v| v == "require") => {
            panic!("LLVM 22 is required and not usable: {why}")
        }
        Err(why) => {
            eprintln!("skipped, for LLVM 22 is not usable: {why}");
            None
        }
    }
}

/// Compiles a program of `tests/llvm` against LLVM 22, unless it was compiled since its
/// source changed.
fn build(name: &str) -> Result<PathBuf, String> {
    let source = Path::new(crate::ROOT).join(format!("tests/llvm/{name}.cpp"));
    let built = folder().join(name);
    let time = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    if time(&built) > time(&source) {
        return Ok(built);
    }
    // Two test programs may build at once: each has a binary of its own, until it is whole.
    let binary = folder().join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(folder()).map_err(|error| error.to_string())?;
    let config = |options: &[&str]| -> Result<Vec<String>, String> {
        let output = Command::new("llvm-config-22")
            .args(options)
            .output()
            .map_err(|error| format!("llvm-config-22: {error}"))?;
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(words.split_whitespace().map(str::to_owned).collect())
    };
    let output = Command::new("clang++-22")
        .arg("-O1")
        .args(config(&["--cxxflags"])?)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .args(config(&["--ldflags", "--libs"])?)
        .output()
        .map_err(|error| format!("clang++-22: {error}"))?;
    if output.status.success() {
        fs::rename(&binary, &built).map_err(|error| error.to_string())?;
        Ok(built)
    } else {
        Err(format!("{name}.cpp does not compile: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn text_of(output: Output, what: &str) -> String {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {}: {message}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns a folder for files, inside the one that cargo builds in.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).expect("a test stands in `target/debug/deps`");
    target.join("tmp")
}
