//! Asking whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`Rules`]. Any doubt is `MayAlias`: no
//! tag, a malformed tag, different roots, an id of another graph.
//!
//! A query takes at most three stages:
//!
//! 1. the *index* compares two intervals of 8 bytes, and where they meet two
//!    records (`index.rs`);
//! 2. the *rule's tables* look up one tag's base type in what lies inside the
//!    other's, and on its walk (`llvm/tables.rs`, `union/tables`);
//! 3. the *definition* follows the paths (`llvm/mod.rs`, `union/definition.rs`). It is
//!    the specification; it also says why.
//!
//! Of few tags, stage 1 decides without a branch, or answers are remembered
//! (`memo.rs`); those on the last accesses with sizes of their own always are.
//!
//! | query | file |
//! |---|---|
//! | one pair, conflicts, growth | `query.rs`, by way of `index.rs` and a `Rule` |
//! | the same, while a thread adds | `reader.rs`, from replicas of the oracle |
//! | why | `explain.rs` and `gap.rs`, from the rule's definition |
//! | all pairs, a row | `batch.rs`, by way of `order.rs` |
//! | tags that answer alike | `classes.rs`, by way of `order.rs` |
//! | what one of many may alias at most | `vicinity.rs` |
//! | struct copies, `errno` | `copy.rs` |
//! | the most generic tag | `llvm/mod.rs`, `union/generic.rs` |

mod access;
mod batch;
mod bytes;
mod classes;
mod clause;
mod copy;
mod explain;
mod gap;
mod index;
mod inside;
mod limits;
mod llvm;
mod memo;
mod order;
mod query;
mod reader;
mod rule;
mod rules;
mod union;
mod vicinity;

pub use access::{Access, AccessKind, Conflict};
pub use batch::Matrix;
#[doc(hidden)]
pub use batch::Pairs;
pub use bytes::{ByteRange, Elements};
pub use classes::Classes;
pub use clause::Clause;
pub use explain::{AccessPath, Comparison, Explanation, PathStep, Side};
pub use gap::Apart;
pub use query::Oracle;
pub use reader::{Publisher, Reader};
pub use rules::{AliasResult, Rules, UnknownRules};
#[doc(hidden)]
pub use vicinity::Vicinity;
