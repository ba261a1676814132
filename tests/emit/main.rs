//! Tests the emitter, which passes nodes to a *sink* (a receiver of nodes), and refuses some tags.

mod jit;
mod refused;
mod scopes;
mod sinks;
