//! Tests the emitter, which passes the nodes of a graph to a *sink*, and refuses some tags.

mod jit;
mod refused;
mod scopes;
mod sinks;
