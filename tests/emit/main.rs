//! Emitting: a *sink* (the receiver) gets the graph's nodes, and some tags are refused.

mod jit;
mod refused;
mod scopes;
mod sinks;
