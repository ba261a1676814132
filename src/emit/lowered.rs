//! Lowered tags as a plan.

use super::{Plan, ScopeNames};
use crate::graph::{CopyId, Graph, TagId};
use crate::lower::Lowering;

/// The lowered tags. A source that was not lowered gets none, and a copy has no
/// `!tbaa.struct`.
impl Plan for Lowering {
    fn graph(&self) -> &Graph {
        self.graph()
    }

    fn tag(&self, tag: TagId) -> Option<TagId> {
        self.tag(tag)
    }

    fn copy(&self, _: CopyId) -> Option<CopyId> {
        None
    }

    fn scopes(&self, _: TagId) -> Option<ScopeNames<'_>> {
        None
    }

    fn call_scopes(&self, _: &[TagId]) -> Option<ScopeNames<'_>> {
        None
    }
}
