//! Finds the runtime library that instrumented programs are linked with.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa_instrument::interposed;

use super::line::Line;
use crate::report::{Context, Failure, Result, bail};
use crate::scratch::Folder;
use crate::tools::{command_of, installed, is_on_path};

/// Returns the flags that link the runtime: the shared library or, for a static program, an object
/// made of the archive. Returns none for a target without checks, and none with `-nostdlib`.
pub(super) fn flags(line: &Line, folder: &Folder, clang: &OsStr) -> Result<Vec<OsString>> {
    let is_own = line.is_supported_target();
    if !is_own || line.has("-r") || line.has("-nostdlib") || line.has("-nodefaultlibs") {
        return Ok(Vec::new());
    }
    if !line.has("-static") && !line.has("-static-pie") {
        let library = find("libtbaa_witness.so")?;
        let whole = std::path::absolute(&library).context(library.display())?;
        // The loader looks in the program's folder first, so program and library can move together.
        let mut place = OsString::from("-Wl,-rpath,$ORIGIN,-rpath,");
        place.push(whole.parent().unwrap_or(Path::new("/")));
        return Ok(vec![
            "-Wl,--push-state,--no-as-needed".into(),
            library.into(),
            "-Wl,--pop-state".into(),
            place,
        ]);
    }
    let gnu = || is_on_path("objcopy").then(|| "objcopy".to_owned());
    let Some(tool) = installed("llvm-objcopy").or_else(gnu) else {
        bail!(
            "-static needs `objcopy` or `llvm-objcopy`, and neither is on the path: install \
             binutils, or link dynamically",
        );
    };
    let run = |command: &mut Command, made: &Path| {
        if command.arg(made).status().is_ok_and(|status| status.success()) {
            return Ok(());
        }
        bail!("{} cannot make the library for -static", command.get_program().display())
    };
    // A static program has the C library's functions, such as `malloc`. So make the runtime's
    // functions with these names local. Instrumented code reports its allocations itself.
    let [archive, whole, own] = ["witness.a", "whole.o", "witness.o"].map(|name| folder.file(name));
    let mut command = Command::new(&tool);
    command.args(interposed().map(|name| format!("--localize-symbol={name}")));
    run(command.arg(find("libtbaa_witness.a")?), &archive)?;
    // Hide the library's private functions, such as its `memcpy`, from the program.
    let mut link = command_of(clang);
    link.args(["-r", "-nostdlib", "-Wl,--whole-archive"]).arg(&archive);
    run(link.args(["-Wl,--no-whole-archive", "-o"]), &whole)?;
    run(Command::new(&tool).arg("--localize-hidden").arg(&whole), &own)?;
    Ok(vec![own.into(), "-lpthread".into(), "-ldl".into(), "-lm".into()])
}

/// Returns the flag that lets clang find `tbaa_witness.h`, near the library or in this repository.
pub(super) fn include() -> Vec<OsString> {
    let library = find("libtbaa_witness.so").and_then(|it| Ok(std::path::absolute(it)?));
    let library = library.unwrap_or_default();
    let parents = library.ancestors().skip(1).take(5);
    let mut folders = parents.flat_map(|parent| {
        ["include", "crates/tbaa-witness/include"].map(|name| parent.join(name))
    });
    let found = folders.find(|folder| folder.join("tbaa_witness.h").is_file());
    found.map(|folder| vec!["-idirafter".into(), folder.into()]).unwrap_or_default()
}

/// Finds a runtime file in `$TBAA_WITNESS_LIBRARY`, near this program, or in the system's folders.
fn find(name: &str) -> Result<PathBuf> {
    let named = std::env::var_os("TBAA_WITNESS_LIBRARY").map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let folders = [
        named,
        beside.map(Path::to_owned),
        beside.map(|beside| beside.join("deps")),
        beside.and_then(Path::parent).map(|beside| beside.join("lib")),
        Some("/usr/local/lib".into()),
        Some("/usr/lib".into()),
    ];
    let mut files = folders.into_iter().flatten().map(|folder| folder.join(name));
    files.find(|file| file.is_file()).ok_or_else(|| {
        Failure::unusable(format!(
            "{name} is neither beside this program nor installed: `cargo build --release -p tbaa-witness` makes it; \
             set TBAA_WITNESS_LIBRARY to its folder"
        ))
    })
}
