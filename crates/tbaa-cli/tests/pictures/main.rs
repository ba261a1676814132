//! Pictures, the page, and two builds compared: the commands whose output is
//! read back by parts.

mod diff;
mod drawings;
mod report;
mod support;
