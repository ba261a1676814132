//! Whether the tools that a test needs are there.

use std::process::Command;

/// Returns whether all of these can be run; says so where one cannot.
pub(crate) fn are_there(tools: &[&str]) -> bool {
    let cannot_run = |tool: &&&str| Command::new(tool).arg("--version").output().is_err();
    let Some(tool) = tools.iter().find(cannot_run) else { return true };
    let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
    assert!(!required, "{tool} is required and cannot be run");
    eprintln!("skipped, for {tool} cannot be run");
    false
}

/// The number in an environment variable, or another.
#[allow(dead_code, reason = "not every test has numbers")]
pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
}

/// The plugin's library, compiled once.
#[allow(dead_code, reason = "not every test needs the plugin")]
pub(crate) fn plugin() -> String {
    static MADE: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let make = || {
        let cache = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin/cache");
        let mut tbaa = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        let output = tbaa.arg("plugin").env("XDG_CACHE_HOME", cache).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    MADE.get_or_init(make).clone()
}
