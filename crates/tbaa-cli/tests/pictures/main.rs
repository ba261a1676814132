//! Pictures and the page: commands whose output is parsed by the tests.

mod drawings;
mod report;
mod support;
#[path = "../tools/mod.rs"]
mod tools;
