//! Runs child processes, and finds crates that cargo has downloaded.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs a command, and returns its standard output.
///
/// # Errors
///
/// A message with the standard error of a command that fails, or the reason why it does not start.
pub fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    run_on(command, &[])
}

/// Like [`run`], but a nonempty `input` becomes the command's standard input.
///
/// # Errors
///
/// The same as from [`run`].
pub fn run_on(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let output = if input.is_empty() { command.output() } else { piped(command, input) };
    let Output { status, stdout, stderr } = output.map_err(|why| format!("{command:?}: {why}"))?;
    let said = String::from_utf8_lossy(&stderr);
    if status.success() { Ok(stdout) } else { Err(format!("{command:?}: {status}\n{said}")) }
}

fn piped(command: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdin = child.stdin.take().expect("it is piped");
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output()
    })
}

/// Like [`run`], but returns text.
///
/// # Errors
///
/// The same as from [`run`].
pub fn text_of(command: &mut Command) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&run(command)?).into_owned())
}

/// Returns the folder of the crate `package`, a dependency of the package in `folder`. Cargo gets
/// the option `flag`: `--offline` forbids downloads.
///
/// # Errors
///
/// The same as from [`run`], or a message that cargo does not know the crate.
pub fn crate_folder(package: &str, folder: &Path, flag: &str) -> Result<PathBuf, String> {
    // Without a platform, cargo would need the crates of all platforms.
    let rustc = text_of(Command::new("rustc").arg("-vV"))?;
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let metadata = text_of(
        Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["metadata", "--format-version", "1", flag, "--filter-platform", host])
            .current_dir(folder),
    )?;
    let found = metadata.split('"').find_map(|word| {
        let folder = Path::new(word.strip_suffix("/Cargo.toml")?);
        let version = folder.file_name()?.to_str()?.strip_prefix(package)?.strip_prefix('-')?;
        version.starts_with(|c: char| c.is_ascii_digit()).then_some(folder)
    });
    found.map(Path::to_owned).ok_or_else(|| format!("cargo does not know the crate {package}"))
}
