//! What LLVM 22 makes of what is attached.

#![allow(unreachable_pub)]

mod answers;
mod attach;
mod bisect;
mod hazards;
mod helpers;
#[path = "../../../../tests/support/random.rs"]
mod random;
#[path = "../../../../tests/support/rng.rs"]
#[allow(dead_code)]
mod rng;
mod runtime;
mod support;

use rng::Rng;
