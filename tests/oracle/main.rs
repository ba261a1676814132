//! The oracle: the rules by their definitions, and the tables behind queries.

#[path = "../support/mod.rs"]
mod support;

mod tables;
mod union;
