//! Lowered tags as a plan.

use super::{Plan, ScopeNames};
use crate::graph::{Graph, TagId};
use crate::lower::Lowering;

/// The lowered tags. A source that was not lowered gets none.
impl Plan for Lowering {
    fn graph(&self) -> &Graph {
        self.graph()
    }

    fn tag(&self, tag: TagId) -> Option<TagId> {
        self.tag(tag)
    }

    fn scopes(&self, _: TagId) -> Option<ScopeNames<'_>> {
        None
    }

    fn call_scopes(&self, _: &[TagId]) -> Option<ScopeNames<'_>> {
        None
    }
}
