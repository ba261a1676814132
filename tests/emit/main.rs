//! Emitting: that a sink gets what the graph holds, and which tags are refused.

#[path = "../support/mod.rs"]
mod support;

mod refused;
mod scopes;
mod sinks;
