//! Declarations: layouts and tags as clang has them, rule `union` on policy
//! `rfc` against its definition, and what is refused.

mod clang;
mod exact;
mod import;
mod layout;
mod paths;
mod rust;
mod session;
mod written;
