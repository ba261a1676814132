//! Emitting: that a sink gets what the graph holds, and which tags are refused.

mod jit;
mod refused;
mod scopes;
mod sinks;
