//! Questions to whole modules: linting and linking.

#[path = "../support/mod.rs"]
mod support;

mod link;
mod lint;
