//! The `tbaa` command.
fn main() {}
