//! Runs LLVM 22: its tools, and the programs in `tests/llvm`, which are linked with it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::process::{run, text_of};

/// Bytes that one thread computes and all threads read.
type Once = Arc<OnceLock<Vec<u8>>>;

/// The tools of LLVM 22.
///
/// If clang 22 is missing, [`Llvm::get`] returns `None`, so that tests can skip comparisons, or
/// panics if the environment variable `TBAA_LLVM` is `require`.
pub struct Llvm {
    /// The modules that clang has printed, by source file and options.
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

    /// Runs the program of `tests/llvm/aa.cpp` on a file, and returns its output.
    pub fn aa(&self, arguments: &[&str], file: &Path) -> String {
        self.aa_unless_killed(arguments, file).expect("no signal ends the program")
    }

    /// Like [`Llvm::aa`]; `None` if a signal ended the program, for example because LLVM crashed.
    pub fn aa_unless_killed(&self, arguments: &[&str], file: &Path) -> Option<String> {
        let program = Program::get("aa").expect("LLVM 22 is usable as a whole");
        let mut command = Command::new(program.0);
        let output = command.args(arguments).arg(file).output().unwrap();
        let code = output.status.code()?;
        assert_eq!(code, 0, "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns whether LLVM's verifier accepts each tag of a module.
    pub fn verdicts(&self, file: &Path) -> Vec<bool> {
        self.aa(&["verify"], file).lines().map(|line| line == "accept").collect()
    }

    /// Returns a row for each tag of a module, with a letter for each tag: `M` is `MayAlias`,
    /// `N` is `NoAlias`, and with the option `--fork`, `C` means that LLVM crashes.
    pub fn grid(&self, options: &[&str], file: &Path) -> Vec<Vec<u8>> {
        let printed = self.aa(&[&["grid"], options].concat(), file);
        printed.lines().map(|line| line.as_bytes().to_vec()).collect()
    }

    /// Returns the text of clang's module for a source file, compiled once per process and options.
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
        run(Command::new("llvm-as-22").args(["-o", "/dev/null"]).arg(&file)).unwrap();
    }

    /// Returns the module, as text, that `llvm-link-22` makes from files.
    pub fn link(&self, files: &[PathBuf]) -> Vec<u8> {
        run(Command::new("llvm-link-22").arg("-S").args(files)).unwrap()
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

/// Runs the pass `aa-eval` of the program `opt` on a module that LLVM's verifier accepts. Returns
/// the answers on all pairs, or those that the options `print` select. `None` if `opt` cannot run.
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

/// Returns the number that a store stores.
pub fn stored(store: &str) -> usize {
    let value = store.strip_prefix("store ").and_then(|rest| rest.split(',').next());
    let number = value.and_then(|value| value.rsplit(' ').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no store of a number: {store}"))
}

/// Writes a file to a folder that is named like the test's thread. Returns the file's path.
pub fn scratch(name: &str, content: &[u8]) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("no test").replace("::", "-");
    let file = folder().join(test).join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    file
}

/// The four ways to compile the corpus: a name, and clang's options.
pub const WAYS: [(&str, &[&str]); 4] = [
    ("O1-old", &["-O1", "-Xclang", "-disable-llvm-passes"]),
    ("O1-new", &["-O1", "-Xclang", "-disable-llvm-passes", "-Xclang", "-new-struct-path-tbaa"]),
    ("O2-old", &["-O2"]),
    ("O2-new", &["-O2", "-Xclang", "-new-struct-path-tbaa"]),
];

/// Returns the C and C++ files of the corpus.
pub fn corpus() -> Vec<PathBuf> {
    let sources = crate::files("tests/corpus", &["c", "cpp"]);
    assert!(sources.len() >= 15);
    sources
}

fn compile(source: &Path, options: &[&str]) -> Vec<u8> {
    let cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let clang = if cpp { "clang++-22" } else { "clang-22" };
    let common = ["-S", "-emit-llvm", "-o", "-", "-w"];
    run(Command::new(clang).args(common).args(options).arg(source)).unwrap()
}

/// A program of `tests/llvm`, compiled against LLVM 22.
#[derive(Clone)]
pub struct Program(PathBuf);

impl Program {
    /// Returns the program, or `None` if the program cannot be built and LLVM 22 is not required.
    pub fn get(name: &'static str) -> Option<Program> {
        static BUILT: Mutex<BTreeMap<&str, Option<Program>>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        built.entry(name).or_insert_with(|| usable(build(name)).map(Program)).clone()
    }

    /// Returns the output of the program.
    pub fn ask(&self, arguments: &[&str], file: &Path) -> String {
        text_of(Command::new(&self.0).args(arguments).arg(file)).unwrap()
    }

    /// Runs the program without arguments. Returns its standard output and standard error.
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

/// Compiles a program of `tests/llvm` against LLVM 22, unless the binary is newer than the source.
fn build(name: &str) -> Result<PathBuf, String> {
    let source = Path::new(crate::ROOT).join(format!("tests/llvm/{name}.cpp"));
    let built = folder().join(name);
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    if time(&built) > time(&source) {
        return Ok(built);
    }
    // Two test programs may build at once, so each builds a file of its own, and then renames it.
    let binary = folder().join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(folder()).map_err(|error| error.to_string())?;
    let config = |options: &[&str]| -> Result<Vec<String>, String> {
        let words = text_of(Command::new("llvm-config-22").args(options))?;
        Ok(words.split_whitespace().map(str::to_owned).collect())
    };
    let mut clang = Command::new("clang++-22");
    clang.arg("-O1").args(config(&["--cxxflags"])?).arg(&source).arg("-o").arg(&binary);
    run(clang.args(config(&["--ldflags", "--libs"])?))?;
    fs::rename(&binary, &built).map_err(|error| error.to_string())?;
    Ok(built)
}

/// Returns the folder for scratch files and built programs: `tmp` in cargo's target folder.
fn folder() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).expect("a test stands in `target/debug/deps`");
    target.join("tmp")
}
