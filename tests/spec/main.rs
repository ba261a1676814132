//! Specs: those of the repository, faulty ones, and graphs written as specs.

mod bad;
mod repository;
mod write;
