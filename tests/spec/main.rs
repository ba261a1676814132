#![cfg(feature = "spec")]
//! Specs: those of the repository, wrong ones, and graphs written as specs.

#[path = "../support/mod.rs"]
mod support;

mod bad;
mod repository;
mod write;
