//! The store: which nodes are one, and how graphs come about.

#[path = "../support/mod.rs"]
mod support;

mod api;
mod builder;
mod corners;
mod embedded;
mod groups;
mod layers;

#[cfg(feature = "serde")]
mod round;
#[cfg(feature = "serde")]
mod serial;
