//! Queries: whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`AliasRule`]. Any doubt is `MayAlias`: no tag, a malformed
//! tag, different roots, an id of another graph.
//!
//! All queries take the same path (`query.rs`): the index, containment of types, the definition.
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
//! | the relation as bits; effects of calls | `masks.rs`, `effect.rs` |
//! | a superset of what one tag may alias | `vicinity.rs` |
//! | struct copies, `errno` | `copy.rs` |
//! | one tag; the most generic tag | `tag.rs` |

mod alias_rule;
mod batch;
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
pub use classes::Classes;
pub use clause::Clause;
pub use conflict::Conflict;
pub use effect::MemoryEffect;
pub use explain::{AccessPath, ByteRange, Comparison, Elements, Explanation, PathStep, Side};
pub use gap::Apart;
pub use grow::Oracle;
pub use masks::{Masks, MasksError};
pub use reader::{Publisher, Reader};
#[doc(hidden)]
pub use vicinity::Vicinity;
