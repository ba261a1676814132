//! The oracle: the rules by their definitions, and the tables behind queries.

#[path = "../support/mod.rs"]
mod support;

mod engines;
mod small;
mod tables;
mod union;
mod words;
