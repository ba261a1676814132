//! Compiles programs with clang to `.ll` text. Caches the text if a crate contains the sources.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Display;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use serde::Deserialize;
use tbaa::Format;
use tbaa_tests::process::{crate_folder, run};

/// A program, and how its sources become one `.ll` text.
#[derive(Deserialize)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// The crate that contains the sources; `None` if this repository contains them.
    package: Option<String>,
    folder: String,
    flags: Vec<String>,
    sources: Sources,
    /// True to keep only the tags and their types, without functions.
    metadata_only: bool,
}

#[derive(Debug, Deserialize)]
enum Sources {
    /// Paths relative to the program's folder.
    Named(Vec<String>),
    /// All files in the folder whose names begin with `start` and end with `end`, except `but`.
    All { start: String, end: String, but: Vec<String> },
}

/// Returns the programs from crates or, for a quick run, those in this repository.
pub(crate) fn programs(quick: bool) -> Vec<Program> {
    let mut all: Vec<Program> = ron::from_str(include_str!("../programs.ron")).expect("a list");
    all.retain(|program| program.package.is_none() == quick);
    all
}

impl Program {
    /// Returns the program's text in a format. The text of a crate's sources may be in `cache`.
    ///
    /// # Errors
    ///
    /// The reason, if something is missing or does not compile.
    pub(crate) fn text(&self, format: Format, cache: &Path) -> Result<Vec<u8>, String> {
        let sources = self.locate(cache)?;
        let package = self.package.as_ref().and(sources.parent()).and_then(Path::file_name);
        let package = package.map_or("corpus".into(), |name| name.to_string_lossy());
        let mut hasher = DefaultHasher::new();
        format!("{:?}", (&self.flags, &self.sources)).hash(&mut hasher);
        let stem = format!("{package}-{format:?}-{:08x}", hasher.finish() as u32).to_lowercase();
        let file = cache.join(format!("{stem}.ll"));
        // Sources of this repository may change, so they are always compiled again.
        if file.exists() && self.package.is_some() {
            return read(&file);
        }
        eprintln!("compiling {}, {format:?} format: the first run takes a while", self.name);
        let units = cache.join(format!("{stem}.units"));
        fs::create_dir_all(&units).map_err(of(&units))?;
        let files = self.compile(format, &sources, &units)?;
        let whole = match &files[..] {
            [one] => one.clone(),
            _ => link(&files, &units)?,
        };
        fs::rename(&whole, &file).map_err(of(&file))?;
        let _ = fs::remove_dir_all(&units);
        read(&file)
    }

    /// Returns the folder of the sources. Unpacks its `.tar.gz` archive if the folder is missing.
    fn locate(&self, cache: &Path) -> Result<PathBuf, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let Some(package) = &self.package else { return Ok(here.join(&self.folder)) };
        let krate = crate_folder(package, &here.join("sources"), "--locked")?;
        let folder = krate.join(&self.folder);
        let packed = krate.join(format!("{}.tar.gz", self.folder));
        if folder.exists() || !packed.exists() {
            return Ok(folder);
        }
        let unpacked = cache.join(krate.file_name().unwrap_or_default());
        fs::create_dir_all(&unpacked).map_err(of(&unpacked))?;
        run(Command::new("tar").arg("xzf").arg(packed).arg("-C").arg(&unpacked))?;
        Ok(unpacked.join(&self.folder))
    }

    fn compile(&self, format: Format, folder: &Path, units: &Path) -> Result<Vec<PathBuf>, String> {
        let sources = self.sources.list(folder)?;
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        let outputs: Vec<_> = (0..sources.len()).map(|at| units.join(format!("{at}.ll"))).collect();
        let work = || {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(source) = sources.get(at)
            {
                if let Err(error) = self.compile_one(format, folder, source, &outputs[at]) {
                    *failure.lock().expect("no panic") = Some(error);
                    return;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
        match failure.into_inner().expect("no panic") {
            Some(error) => Err(error),
            None => Ok(outputs),
        }
    }

    fn compile_one(
        &self,
        format: Format,
        folder: &Path,
        source: &Path,
        output: &Path,
    ) -> Result<(), String> {
        let cpp = source.extension().is_some_and(|extension| extension != "c");
        let mut clang = Command::new(if cpp { "clang++-22" } else { "clang-22" });
        clang.args(["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-w"]);
        if format == Format::New {
            clang.args(["-Xclang", "-new-struct-path-tbaa"]);
        }
        clang.args(&self.flags).args(listed_folders(folder)).arg(source).arg("-o").arg(output);
        run(clang.current_dir(folder))?;
        if self.metadata_only {
            let module = tbaa_ir::read(read(output)?).map_err(of(source))?;
            let metadata = tbaa_ir::write(module.graph());
            fs::write(output, metadata).map_err(of(output))?;
        }
        Ok(())
    }
}

impl Sources {
    /// Returns the paths of the files: for `Named` in their order, for `All` sorted.
    fn list(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let (start, end, but) = match self {
            Sources::Named(names) => {
                return Ok(names.iter().map(|name| folder.join(name)).collect());
            }
            Sources::All { start, end, but } => (start, end, but),
        };
        let entries = fs::read_dir(folder).map_err(of(folder))?;
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end) && !but.iter().any(|but| *but == name)
        });
        files.sort();
        Ok(files)
    }
}

/// Returns a `-I` option for each subfolder that `manifest.json` names; none without that file.
fn listed_folders(folder: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(folder.join("manifest.json")).unwrap_or_default();
    let mut folders: Vec<_> = manifest
        .split('"')
        .map(|word| word.strip_prefix("duckdb/").unwrap_or(word))
        .filter(|word| !word.contains(char::is_whitespace) && folder.join(word).is_dir())
        .filter(|word| !word.is_empty())
        .map(|word| format!("-I{word}"))
        .collect();
    folders.dedup();
    folders
}

fn link(files: &[PathBuf], units: &Path) -> Result<PathBuf, String> {
    let whole = units.join("whole.ll");
    run(Command::new("llvm-link-22").arg("-S").args(files).arg("-o").arg(&whole))?;
    Ok(whole)
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    fs::read(file).map_err(of(file))
}

/// Returns a function that formats an error with the file's path before it.
pub(crate) fn of<E: Display>(file: &Path) -> impl FnOnce(E) -> String {
    move |error| format!("{}: {error}", file.display())
}
