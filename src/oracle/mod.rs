//! Queries: whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`AliasRule`]. Any doubt is `MayAlias`: no tag, a malformed
//! tag, different roots, an id of another graph.
//!
//! All queries take the same path (`query.rs`). A small oracle whose intervals leave many pairs
//! open first checks whether the pair is in a cache (`memo.rs`). Then
//!
//! 1. the *index* compares two intervals of 8 bytes, and if they meet two records (`index.rs`).
//!    This decides pairs of *regular* tags, which have a single path to one scalar: they may alias
//!    iff one's cursor lies on the other's walk;
//! 2. *containment* of types (`types.rs`): two accesses overlap only if an object of one base type
//!    is inside the other. If neither base may contain the other, and each tag has a path, they do
//!    not alias. The sets for this only err towards "may";
//! 3. the *definition* decides the rest, some pairs in a thousand (`llvm/mod.rs`,
//!    `union/definition.rs`). It has two halves: an access's paths, which are computed once for
//!    each tag, and whether two such sets meet, which is cached (`memo.rs`). It also explains
//!    answers.
//!
//! No stage depends on when a tag was added, so a graph that grew, its clones and its replicas give
//! the same answers.
//!
//! | query | file |
//! |---|---|
//! | one pair | `query.rs` |
//! | dependences | `conflict.rs` |
//! | growth | `grow.rs` |
//! | the same, while a thread adds | `reader.rs`, from replicas of the oracle |
//! | explanations | `explain.rs` and `gap.rs` |
//! | all pairs, a row | `batch.rs`, by way of `order.rs` |
//! | tags with the same answers | `classes.rs`, by way of `order.rs` |
//! | a superset of what one tag may alias | `vicinity.rs` |
//! | struct copies, `errno` | `copy.rs` |
//! | one tag; the most generic tag | `tag.rs` |

mod alias_rule;
mod batch;
mod bytes;
mod classes;
mod clause;
mod conflict;
mod copy;
mod explain;
mod gap;
mod grow;
mod index;
mod limits;
mod llvm;
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
pub use explain::{AccessPath, Comparison, Explanation, PathStep, Side};
pub use gap::Apart;
pub use grow::Oracle;
pub use reader::{Publisher, Reader};
#[doc(hidden)]
pub use vicinity::Vicinity;
