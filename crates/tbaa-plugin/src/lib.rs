//! A plugin for LLVM 22, and tools that measure with it.
//!
//! Stock LLVM can only use a tree of types, or alias scopes. The plugin's analysis
//! `tbaa-classes` can use any relation between classes (sets of accesses): an access has one scope,
//! which names its class, and the module's named metadata lists the classes that may alias. LLVM
//! without the plugin learns nothing from these scopes, so the module is still correct.
//!
//! The plugin's analysis `tbaa-worth` wraps LLVM's type-based alias analysis. It records the
//! answers, and suppresses those that a file does not allow. [`search()`] uses `tbaa-worth` to find
//! the answers that change the code that LLVM generates.
//!
//! [`Toolchain::find`] compiles the plugin for the installed LLVM. With feature `link` the plugin
//! is linked into the program, and `run_passes` runs LLVM's passes with it.

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
