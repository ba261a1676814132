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
