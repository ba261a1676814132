//! LLVM's tools, and the plugin compiled for them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The plugin's source, of which [`Toolchain::find`] makes the library.
pub const SOURCE: &str = include_str!("plugin.cpp");

/// The plugin's header, for programs in C++ that link it.
pub const HEADER: &str = include_str!("../include/tbaa-plugin.h");

/// The version of LLVM that the plugin is for.
pub const LLVM: &str = "22";

/// `opt` of LLVM 22, and the plugin as a library that it loads.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Where `opt` is.
    pub opt: PathBuf,
    /// Where the plugin is: what `opt -load-pass-plugin` and `clang -fpass-plugin` take.
    pub plugin: PathBuf,
}

/// Why LLVM's tools or the plugin cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no LLVM 22 where it was looked for.
    Llvm(String),
    /// The plugin cannot be compiled: the command, and what it printed.
    Compile(String, String),
    /// A pipeline of passes failed: the command, and what it printed.
    Passes(String, String),
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Llvm(found) => write!(
                f,
                "the plugin needs LLVM {LLVM}: {found}; install `llvm-{LLVM}-dev` and `clang-{LLVM}`, \
                 or set LLVM_CONFIG to an llvm-config of that version"
            ),
            Error::Compile(command, printed) => {
                write!(f, "cannot compile the plugin by `{command}`:\n{}", printed.trim_end())
            }
            Error::Passes(command, printed) => {
                write!(f, "`{command}` failed:\n{}", printed.trim_end())
            }
            Error::File(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

impl Toolchain {
    /// Finds LLVM 22 by `$LLVM_CONFIG`, or else `llvm-config-22` or `llvm-config`, and
    /// compiles the plugin by `$CXX`, or else LLVM's `clang++` or `c++`, unless `cache`
    /// has it from before.
    ///
    /// # Errors
    ///
    /// There is no LLVM 22, or no compiler that makes the plugin.
    pub fn find(cache: &Path) -> Result<Toolchain, Error> {
        let config = config()?;
        let asked = |flag: &str| -> Result<String, Error> {
            let output = Command::new(&config).arg(flag).output();
            let text = output.ok().filter(|it| it.status.success()).map(|it| it.stdout);
            let text = text.and_then(|it| String::from_utf8(it).ok());
            let text =
                text.ok_or_else(|| Error::Llvm(format!("{} does not run", shown(&config))))?;
            Ok(text.trim().to_owned())
        };
        let version = asked("--version")?;
        if version.split('.').next() != Some(LLVM) {
            return Err(Error::Llvm(format!("{} is version {version}", shown(&config))));
        }
        let bin = PathBuf::from(asked("--bindir")?);
        let opt = bin.join("opt");
        if !opt.is_file() {
            return Err(Error::Llvm(format!("{} is not there", opt.display())));
        }
        let flags = asked("--cppflags")?;
        let name = format!("tbaa-plugin-{}-llvm-{version}", env!("CARGO_PKG_VERSION"));
        let plugin = compiled(&cache.join(name), &bin, &flags)?;
        Ok(Toolchain { opt, plugin })
    }
}

/// The folder for what can be made again: `$XDG_CACHE_HOME/tbaa`, or `~/.cache/tbaa`.
pub fn cache() -> PathBuf {
    let of = |variable| env::var_os(variable).filter(|it| !it.is_empty()).map(PathBuf::from);
    let base = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    base.unwrap_or_else(env::temp_dir).join("tbaa")
}

fn config() -> Result<OsString, Error> {
    if let Some(named) = env::var_os("LLVM_CONFIG").filter(|it| !it.is_empty()) {
        return Ok(named);
    }
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found = ["llvm-config-22", "llvm-config"].into_iter().find(runs);
    found.map(OsString::from).ok_or_else(|| Error::Llvm("there is no `llvm-config-22`".to_owned()))
}

/// Returns the library in this folder, compiled from the same source.
fn compiled(folder: &Path, bin: &Path, flags: &str) -> Result<PathBuf, Error> {
    let file = |path: &Path| {
        let path = path.to_owned();
        move |error| Error::File(path, error)
    };
    let [source, header] = ["plugin.cpp", "tbaa-plugin.h"].map(|name| folder.join(name));
    let library = folder.join("tbaa-plugin.so");
    if library.is_file() && fs::read(&source).is_ok_and(|text| text == SOURCE.as_bytes()) {
        return Ok(library);
    }
    fs::create_dir_all(folder).map_err(file(folder))?;
    // Another process may do the same: each makes its own, and puts it in place at once.
    let own = |path: &Path| path.with_extension(format!("{}.tmp", std::process::id()));
    let (new, text) = (own(&library), own(&source).with_extension("cpp"));
    fs::write(&header, HEADER).map_err(file(&header))?;
    fs::write(&text, SOURCE).map_err(file(&text))?;
    let clang = bin.join("clang++");
    let compiler = match env::var_os("CXX").filter(|it| !it.is_empty()) {
        Some(named) => named,
        None if clang.is_file() => clang.into(),
        None => "c++".into(),
    };
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O1", "-fno-rtti", "-fno-exceptions", "-shared", "-fPIC"]);
    command.arg(format!("-DTBAA_PLUGIN_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
    command.arg("-I").arg(folder).args(flags.split_whitespace());
    command.arg(&text).arg("-o").arg(&new);
    let made = command.output();
    let _ = fs::remove_file(&text);
    match made {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Error::Compile(shown_command(&command), printed));
        }
        Err(error) => return Err(Error::Compile(shown_command(&command), error.to_string())),
    }
    fs::rename(&new, &library).map_err(file(&library))?;
    // Written last: with it the library is known to be of this source.
    fs::write(&source, SOURCE).map_err(file(&source))?;
    Ok(library)
}

fn shown(name: &OsStr) -> String {
    format!("`{}`", name.to_string_lossy())
}

/// A command as it is typed, but for quotes.
pub(crate) fn shown_command(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
