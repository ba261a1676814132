//! Alias queries: may two accesses overlap?
//!
//! An [`Oracle`] answers by one of the [`AliasRule`]s. In doubt it answers `MayAlias`: if there is
//! no tag, or a tag is malformed or of another graph, or the roots differ.
//!
//! No answer depends on when a tag was added, so a graph that grew and its clones answer alike.
//!
//! | query | file |
//! |---|---|
//! | one pair | `query.rs` |
//! | dependences | `conflict.rs` |
//! | adding types and tags | `grow.rs` |
//! | queries while another thread adds tags | `reader.rs`, with copies of the oracle |
//! | explanations | `explain.rs` and `gap.rs` |
//! | all pairs, or one tag with many | `batch.rs`, which uses `order.rs` |
//! | tags with the same answers | `classes.rs`, which uses `order.rs` |
//! | the answers as bits; effects of calls | `masks.rs`, `effect.rs` |
//! | a superset of the tags that one tag may alias | `vicinity.rs` |
//! | struct copies, `errno` | `copy.rs` |
//! | properties of one tag; the most generic tag | `tag.rs` |

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
