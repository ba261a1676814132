//! What accesses are to get.

use std::borrow::Borrow;

use super::{EmitError, Emitter, ScopeNames, Scopes, Sink};
use crate::graph::{CopyId, Graph, TagId};
use crate::oracle::Oracle;

/// What a program's tags become on LLVM's instructions: tags, of the program's
/// graph or of another, and scopes.
///
/// A [`Graph`] is the plan to attach its tags as they are. [`ScopePlan`] adds
/// scopes, or has them alone.
pub trait Plan {
    /// Returns the graph of the tags that are attached.
    fn graph(&self) -> &Graph;

    /// Returns what to attach as `!tbaa` for one of the program's tags.
    fn tag(&self, tag: TagId) -> Option<TagId>;

    /// Returns what to attach as `!tbaa.struct`.
    fn copy(&self, copy: CopyId) -> Option<CopyId>;

    /// Returns the scopes of an access with one of the program's tags.
    fn scopes(&self, tag: TagId) -> Option<ScopeNames<'_>>;

    /// Returns the scopes of a call that touches memory with the program's tags
    /// `touched` only.
    fn call_scopes(&self, touched: &[TagId]) -> Option<ScopeNames<'_>>;
}

impl Plan for Graph {
    fn graph(&self) -> &Graph {
        self
    }

    fn tag(&self, tag: TagId) -> Option<TagId> {
        Some(tag)
    }

    fn copy(&self, copy: CopyId) -> Option<CopyId> {
        Some(copy)
    }

    fn scopes(&self, _: TagId) -> Option<ScopeNames<'_>> {
        None
    }

    fn call_scopes(&self, _: &[TagId]) -> Option<ScopeNames<'_>> {
        None
    }
}

/// Scopes beside the tags of another plan, or alone.
#[derive(Clone, Copy, Debug)]
pub struct ScopePlan<'a, P = Graph, G = Graph> {
    /// The plan whose tags are attached.
    pub tags: &'a P,
    /// Whether `!alias.scope` and `!noalias` are all that is attached.
    pub alone: bool,
    /// The scopes.
    pub scopes: &'a Scopes,
    /// What the scopes were made with, which answers for calls.
    pub oracle: &'a Oracle<G>,
}

impl<P: Plan, G: Borrow<Graph>> Plan for ScopePlan<'_, P, G> {
    fn graph(&self) -> &Graph {
        self.tags.graph()
    }

    fn tag(&self, tag: TagId) -> Option<TagId> {
        if self.alone { None } else { self.tags.tag(tag) }
    }

    fn copy(&self, copy: CopyId) -> Option<CopyId> {
        if self.alone { None } else { self.tags.copy(copy) }
    }

    fn scopes(&self, tag: TagId) -> Option<ScopeNames<'_>> {
        self.scopes.of(tag)
    }

    fn call_scopes(&self, touched: &[TagId]) -> Option<ScopeNames<'_>> {
        Some(self.scopes.of_call(self.oracle, touched))
    }
}

/// The nodes to attach to an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Attachments<N> {
    /// `!tbaa`
    pub tag: Option<N>,
    /// `!tbaa.struct`
    pub copy: Option<N>,
    /// `!alias.scope`
    pub alias_scope: Option<N>,
    /// `!noalias`
    pub noalias: Option<N>,
}

impl<N> Default for Attachments<N> {
    fn default() -> Self {
        Attachments { tag: None, copy: None, alias_scope: None, noalias: None }
    }
}

impl<S: Sink> Emitter<S> {
    /// Emits what an access with a tag is to get; nothing for an access
    /// without.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tag`].
    pub fn access(
        &mut self,
        plan: &impl Plan,
        tag: Option<TagId>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let Some(tag) = tag else { return Ok(Attachments::default()) };
        let attached = plan.tag(tag).map(|tag| self.tag(plan.graph(), tag)).transpose()?;
        let scopes = plan.scopes(tag);
        Ok(Attachments { tag: attached, ..self.scopes(scopes)? })
    }

    /// Emits what a call is to get that touches memory with the tags `touched`
    /// only, apart from what nobody else can: with one tag, that tag.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tag`].
    pub fn call(
        &mut self,
        plan: &impl Plan,
        touched: &[TagId],
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let tag = match touched {
            &[tag] => plan.tag(tag).map(|tag| self.tag(plan.graph(), tag)).transpose()?,
            _ => None,
        };
        let scopes = plan.call_scopes(touched);
        Ok(Attachments { tag, ..self.scopes(scopes)? })
    }

    /// Emits what a copy of a struct is to get.
    ///
    /// # Errors
    ///
    /// As [`Emitter::copy_node`].
    pub fn copy(
        &mut self,
        plan: &impl Plan,
        copy: CopyId,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let copy = plan.copy(copy).map(|copy| self.copy_node(plan.graph(), copy)).transpose()?;
        Ok(Attachments { copy, ..Attachments::default() })
    }

    fn scopes(
        &mut self,
        names: Option<ScopeNames<'_>>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let Some(names) = names else { return Ok(Attachments::default()) };
        let alias_scope = self.scope_list(names.domain, names.own)?;
        let noalias = self.scope_list(names.domain, names.noalias)?;
        Ok(Attachments { alias_scope, noalias, ..Attachments::default() })
    }
}
