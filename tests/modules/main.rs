//! Questions to whole modules: linting and linking; and the fuzz targets.

#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "spec")]
mod fuzz;
#[cfg(feature = "spec")]
#[path = "../support/fuzz.rs"]
mod fuzz_targets;
mod hostile;
mod limits;
mod link;
mod lint;
mod stack;
