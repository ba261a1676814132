//! A plugin for LLVM 22, and what it measures.
//!
//! Stock LLVM can be told a tree of types, or lists of scopes. The plugin's analysis
//! `tbaa-classes` answers from any relation: an access has one scope, the name of its
//! class, and the module's named metadata says which classes may alias. Without the
//! plugin LLVM learns nothing from these scopes, so a module is as right without it.
//!
//! Its analysis `tbaa-worth` is LLVM's own by types, watched: it writes down which of
//! its answers count, and leaves out those that it is told to. [`search()`] finds with
//! it which answers change the code that LLVM makes.
//!
//! [`Toolchain::find`] compiles the plugin for the LLVM that is installed. With feature
//! `link` it is linked into the program, and `run_passes` runs LLVM's passes with it.

mod runs;
mod search;
mod toolchain;

#[cfg(feature = "link")]
mod link;

#[cfg(feature = "link")]
pub use link::run_passes;
pub use runs::{Allowed, Code, Pair, Question, Runs};
pub use search::{Found, Loss, Worth, search};
pub use toolchain::{Error, HEADER, LLVM, SOURCE, Toolchain, cache};
