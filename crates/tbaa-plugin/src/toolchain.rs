//! Finds LLVM's tools, and compiles this crate's LLVM plugin for them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The plugin's source code, which [`Toolchain::find`] compiles.
pub const SOURCE: &str = include_str!("plugin.cpp");

/// The plugin's header, for C++ programs that link the plugin.
pub const HEADER: &str = include_str!("../include/tbaa-plugin.h");

/// The version of LLVM that the plugin is for.
pub const LLVM: &str = "22";

/// The program `opt` of LLVM 22, and the plugin as a library that it loads.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The path of `opt`.
    pub opt: PathBuf,
    /// The plugin's path, for `opt -load-pass-plugin` and `clang -fpass-plugin`.
    pub plugin: PathBuf,
}

/// The reason why LLVM's tools or the plugin cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// LLVM 22 was not found.
    #[error(
        "the plugin needs LLVM {LLVM}: {0}; install it (on Debian `apt-get install clang-{LLVM} \
         llvm-{LLVM}-dev`), or set LLVM_CONFIG to an llvm-config of that version"
    )]
    Llvm(String),
    /// The plugin cannot be compiled. The fields are the command and its output.
    #[error("cannot compile the plugin by `{0}`:\n{printed}", printed = .1.trim_end())]
    Compile(String, String),
    /// A pipeline of passes failed. The fields are the command and its output.
    #[error("`{0}` failed:\n{printed}", printed = .1.trim_end())]
    Passes(String, String),
    /// A file cannot be read or written.
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// Neither `$HOME` nor `$XDG_CACHE_HOME` is set to an absolute path.
    #[error(
        "there is no folder for the compiled plugin: set HOME, or XDG_CACHE_HOME to a path from \
         the root"
    )]
    NoCache,
    /// Other users may write to a file or folder from which code would be loaded.
    #[error(
        "other users may write to {}, so no code is loaded from there: remove it, or take their rights \
         away",
        .0.display()
    )]
    Shared(PathBuf),
}

impl Error {
    /// Returns a function that adds the file's path to an I/O error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |error| Error::File(path, error)
    }
}

impl Toolchain {
    /// Finds LLVM 22 with `$LLVM_CONFIG`, or else `llvm-config-22` or `llvm-config`. Compiles the
    /// plugin with `$CXX`, or else LLVM's `clang++` or `c++`, unless the folder `cache` has it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no LLVM 22, or if the plugin cannot be compiled or cached.
    pub fn find(cache: &Path) -> Result<Toolchain, Error> {
        let config = config()?;
        let asked = |flag: &str| -> Result<String, Error> {
            let output = Command::new(&config).arg(flag).output();
            let output = output.ok().filter(|output| output.status.success());
            let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
            let failed = || Error::Llvm(format!("{} does not run", shown(&config)));
            Ok(text.ok_or_else(failed)?.trim().to_owned())
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

/// Returns the folder for cached files: `$XDG_CACHE_HOME/tbaa`, or `~/.cache/tbaa`. Relative paths
/// are ignored, as the XDG Base Directory Specification requires.
///
/// # Errors
///
/// Returns [`Error::NoCache`] if neither `$XDG_CACHE_HOME` nor `$HOME` is an absolute path. There
/// is no default that users share, because code is loaded from the folder.
pub fn cache() -> Result<PathBuf, Error> {
    let of = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    Ok(base.ok_or(Error::NoCache)?.join("tbaa"))
}

/// Creates a folder that only this user may write to. Checks that this user owns the folder, and
/// that this user or root owns its parents, which may be world-writable only with the sticky bit.
/// Returns the path without symbolic links, because another user may own and change a link.
#[cfg(unix)]
fn private(folder: &Path) -> Result<PathBuf, Error> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    unsafe extern "C" {
        safe fn geteuid() -> u32;
    }
    let user = geteuid();
    // In a folder with the sticky bit, users may rename only their own files.
    let leads_there = |path: &Path| {
        path.ancestors().try_for_each(|path| {
            let found = fs::metadata(path).map_err(Error::file(folder))?;
            let is_own = [0, user].contains(&found.uid()) && found.mode() & 0o1002 != 0o002;
            if is_own { Ok(()) } else { Err(Error::Shared(path.to_owned())) }
        })
    };
    // Check the existing parents first, so that nothing is created in another user's folder.
    folder
        .ancestors()
        .find_map(|folder| folder.canonicalize().ok())
        .map_or(Ok(()), |folder| leads_there(&folder))?;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let real = made.and_then(|()| folder.canonicalize()).map_err(Error::file(folder))?;
    for path in [folder, &real, &real.join(LIBRARY), &real.join(KEY)] {
        let Ok(found) = fs::symlink_metadata(path) else { continue };
        if found.is_symlink() || found.uid() != user || found.mode() & 0o022 != 0 {
            return Err(Error::Shared(path.to_owned()));
        }
    }
    leads_there(&real)?;
    Ok(real)
}

#[cfg(not(unix))]
fn private(folder: &Path) -> Result<PathBuf, Error> {
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.map_err(Error::file(folder))
}

/// The file names of the compiled plugin, and of the record of its inputs.
const LIBRARY: &str = "tbaa-plugin.so";
const KEY: &str = "tbaa-plugin.key";

/// Returns a record of a library: the compiler command, and a hash of the source, the header and
/// the library itself, so that a truncated library is not accepted.
fn key(command: &str, library: &Path) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    (SOURCE, HEADER, fs::read(library)?).hash(&mut hasher);
    Ok(format!("{command}\n{:016x}\n", hasher.finish()))
}

fn config() -> Result<OsString, Error> {
    if let Some(named) = env::var_os("LLVM_CONFIG").filter(|value| !value.is_empty()) {
        return Ok(named);
    }
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found = ["llvm-config-22", "llvm-config"].into_iter().find(runs);
    found.map(OsString::from).ok_or_else(|| Error::Llvm("there is no `llvm-config-22`".to_owned()))
}

/// Returns the compiled plugin in this folder. Compiles it unless the folder has one from the same
/// source and command.
fn compiled(folder: &Path, bin: &Path, flags: &str) -> Result<PathBuf, Error> {
    let folder = &private(folder)?;
    let [library, key_file, header] = [LIBRARY, KEY, "tbaa-plugin.h"].map(|name| folder.join(name));
    let clang = bin.join("clang++");
    let compiler = match env::var_os("CXX").filter(|value| !value.is_empty()) {
        Some(named) => named,
        None if clang.is_file() => clang.into(),
        None => "c++".into(),
    };
    let mut command = Command::new(compiler);
    command.args(["-std=c++17", "-O1", "-fno-rtti", "-fno-exceptions", "-shared", "-fPIC"]);
    command.arg(format!("-DTBAA_PLUGIN_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
    command.arg("-I").arg(folder).args(flags.split_whitespace());
    let made_by = shown_command(&command);
    let is_known = |known: String| key(&made_by, &library).is_ok_and(|key| key == known);
    if fs::read_to_string(&key_file).is_ok_and(is_known) {
        return Ok(library);
    }
    // Several processes may compile the plugin at once: each compiles its own file and renames it.
    let own = |path: &Path| path.with_extension(format!("{}.tmp", std::process::id()));
    let (new, text) = (own(&library), own(&folder.join("plugin.cpp")).with_extension("cpp"));
    fs::write(&header, HEADER).map_err(Error::file(&header))?;
    fs::write(&text, SOURCE).map_err(Error::file(&text))?;
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
    // The umask may leave more permissions than loading the library needs.
    restrict(&new, 0o700)?;
    let made = key(&made_by, &new).map_err(Error::file(&new))?;
    fs::rename(&new, &library).map_err(Error::file(&library))?;
    // The record is renamed last: it says that the library was made from this source.
    let written = own(&key_file);
    fs::write(&written, made).map_err(Error::file(&written))?;
    restrict(&written, 0o600)?;
    fs::rename(&written, &key_file).map_err(Error::file(&key_file))?;
    Ok(library)
}

fn restrict(path: &Path, mode: u32) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::file(path))?;
    }
    _ = (path, mode);
    Ok(())
}

fn shown(name: &OsStr) -> String {
    format!("`{}`", name.to_string_lossy())
}

/// Returns a command as a user would type it, without quoting.
pub(crate) fn shown_command(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
