//! Tests commands that draw pictures or pages, by parsing their output.

mod drawings;
mod report;
mod support;
#[path = "../tools/mod.rs"]
mod tools;
