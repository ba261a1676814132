//! Asking whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`AliasRule`]. Any doubt is `MayAlias`: no
//! tag, a malformed tag, different roots, an id of another graph.
//!
//! There is one way to an answer (`query.rs`). A small oracle whose intervals leave many pairs open
//! first looks whether the pair was asked about before (`memo.rs`). Then
//!
//! 1. the *index* compares two intervals of 8 bytes, and where they meet two
//!    records (`index.rs`). That decides pairs of *regular* tags, to whose one scalar one way
//!    leads: they may alias iff one's cursor lies on the other's walk;
//! 2. *what lies in what* (`types.rs`): two accesses overlap only if an object of one base type
//!    lies in the other. Where neither base may hold the other, and each tag denotes
//!    something, they do not alias. The sets that say so only ever err towards "may";
//! 3. the *definition* decides on what is left, some pairs in a thousand
//!    (`llvm/mod.rs`, `union/definition.rs`). It has two halves: what an access denotes, which
//!    is found once for each tag, and whether two such sets meet, which is remembered
//!    (`memo.rs`). It also says why.
//!
//! No stage depends on when a tag was added, so a graph that grew, its clones and its
//! replicas answer alike.
//!
//! | query | file |
//! |---|---|
//! | one pair | `query.rs` |
//! | dependences | `conflict.rs` |
//! | growth | `grow.rs` |
//! | the same, while a thread adds | `reader.rs`, from replicas of the oracle |
//! | why | `explain.rs` and `gap.rs` |
//! | all pairs, a row | `batch.rs`, by way of `order.rs` |
//! | tags that answer alike | `classes.rs`, by way of `order.rs` |
//! | the relation as bits; effects of calls | `masks.rs`, `effect.rs` |
//! | what one of many may alias at most | `vicinity.rs` |
//! | struct copies, `errno` | `copy.rs` |
//! | one tag; the most generic tag | `tag.rs` |

mod alias_rule;
mod batch;
mod bytes;
mod classes;
mod clause;
mod conflict;
mod copy;
mod effect;
mod explain;
mod gap;
mod grow;
mod index;
mod limits;
mod llvm;
mod masks;
mod memo;
mod order;
mod query;
mod reader;
mod rule;
mod tag;
mod types;
mod union;
mod vicinity;

pub use crate::access::{Access, AccessKind};
pub use alias_rule::{AliasResult, AliasRule, UnknownRuleError};
pub use batch::Matrix;
#[doc(hidden)]
pub use batch::Pairs;
pub use bytes::{ByteRange, Elements};
pub use classes::Classes;
pub use clause::Clause;
pub use conflict::Conflict;
pub use effect::MemoryEffect;
pub use explain::{AccessPath, Comparison, Explanation, PathStep, Side};
pub use gap::Apart;
pub use grow::Oracle;
pub use masks::{Masks, MasksError};
pub use reader::{Publisher, Reader};
#[doc(hidden)]
pub use vicinity::Vicinity;
