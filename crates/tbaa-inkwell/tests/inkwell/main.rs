//! What LLVM 22 makes of what is attached.

#![allow(unreachable_pub)]

mod answers;
mod attach;
mod bisect;
mod hazards;
mod helpers;
mod instrument;
#[path = "../../../../tests/support/random.rs"]
#[allow(dead_code)]
mod random;
mod runtime;
#[path = "../../../../tests/support/splitmix.rs"]
#[allow(dead_code)]
mod splitmix;
mod support;

use splitmix::Rng;
