//! Pictures and the page: the commands whose output is read back by parts.

mod drawings;
mod report;
mod support;
