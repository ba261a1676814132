//! Declarations: clang's layouts and tags, rule `union` on policy `rfc` compared with its
//! definition, and refused declarations.

mod clang;
mod exact;
mod import;
mod layout;
mod paths;
mod rust;
mod session;
