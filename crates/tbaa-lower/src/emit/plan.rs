//! What accesses are to get.

use std::borrow::Borrow;

use super::emitter::{EmitError, Emitter};
use super::sink::{Sink, SinkOperand};
use crate::scopes::{ScopeNames, Scopes};
use tbaa::Oracle;
use tbaa::{CopyEntry, CopyId, Graph, Int, TagId};

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

    /// Emits what a copy of a struct is to get: the list of the plan's tags,
    /// and the scopes of what it leaves alone. `graph` is the program's, which
    /// `copy` is of.
    ///
    /// # Errors
    ///
    /// As [`Emitter::copy_node`].
    pub fn copy(
        &mut self,
        plan: &impl Plan,
        graph: &Graph,
        copy: CopyId,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        if !graph.owns(copy.node()) {
            return Err(EmitError::ForeignId);
        }
        // A malformed list is none.
        let Some(entries) = graph.copy(copy) else { return Ok(Attachments::default()) };
        let touched: Vec<TagId> = entries.iter().map(|entry| entry.tag).collect();
        let scopes = self.scopes(plan.call_scopes(&touched))?;
        let list = self.entries(plan, &entries)?;
        Ok(Attachments { copy: list, ..scopes })
    }

    /// Emits a `tbaa.struct` node of the plan's tags; `None` if an entry has
    /// none.
    fn entries(
        &mut self,
        plan: &impl Plan,
        entries: &[CopyEntry],
    ) -> Result<Option<S::Node>, EmitError<S::Error>> {
        let mut tags = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(tag) = plan.tag(entry.tag) else { return Ok(None) };
            tags.push(self.copied_tag(plan.graph(), tag)?);
        }
        let int = |value| SinkOperand::Int(Int::i64(value));
        let operands: Vec<_> = entries
            .iter()
            .zip(&tags)
            .flat_map(|(entry, tag)| [int(entry.offset), int(entry.size), SinkOperand::Node(tag)])
            .collect();
        self.sink.node(&operands, false).map(Some).map_err(EmitError::Sink)
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
