//! What a running program needs: values, tables, the stack, built-in functions.
//!
//! Nothing is collected while a program runs; all objects are in one arena, which
//! is freed at the end.

mod builtin;
pub(crate) mod helpers;
pub(crate) mod layout;
mod number;
mod state;
mod table;

pub(crate) use builtin::show;
pub(crate) use state::Lua;
