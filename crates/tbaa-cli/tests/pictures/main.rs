//! Tests of the commands that draw pictures or pages. The tests parse their output.

mod drawings;
mod report;
mod support;
#[path = "../tools/mod.rs"]
mod tools;
