//! Specs: those of the repository, wrong ones, and graphs written as specs.

mod bad;
mod repository;
mod write;
