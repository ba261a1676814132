//! LLVM-style types: text, layouts as LLVM 22 has them, equality; declarations.

mod context;
mod declare;
mod equal;
mod layouts;
mod listing;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// `tests/llvm/types.cpp`, compiled.
struct Helper(PathBuf);

impl Helper {
    fn ask(&self, command: &str, file: &Path) -> String {
        let output = Command::new(&self.0).arg(command).arg(file).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "types {command} {}: {message}", file.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The helper, unless LLVM 22 is neither there nor required.
fn helper() -> Option<&'static Helper> {
    static HELPER: OnceLock<Option<Helper>> = OnceLock::new();
    HELPER.get_or_init(|| tbaa_tests::llvm::build_or_skip("types").map(Helper)).as_ref()
}
