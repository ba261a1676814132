//! Chooses the metadata for each access.

use std::borrow::Borrow;

use super::emitter::{EmitError, Emitter};
use super::recorded::Recorded;
use super::sink::{Sink, SinkOperand, Storage};
use crate::scopes::ScopeNames;
use crate::{AccessClasses, Lowering};
use tbaa::{Access, CopyEntry, CopyId, Graph, Int, Oracle, TagId};

/// Maps each access of a program to the metadata to attach: a tag and alias scopes.
///
/// [`Jit`](super::Jit) has its own plan; this trait is for programs with their own graph and
/// [`Oracle`]. A [`Graph`] is the plan that attaches its own tags unchanged.
/// [`Lowered`](super::Lowered) attaches lowered tags and scopes. A plan may be used as `&dyn Plan`.
pub trait Plan {
    /// Returns the graph that contains the tags to attach.
    fn graph(&self) -> &Graph;

    /// Returns the tag to attach as `!tbaa` to an access, whose own tag is in the program's graph.
    fn planned(&self, access: Access) -> Planned;

    /// Returns the scopes of an access whose own tag is in the program's graph; by default none.
    fn scopes(&self, _access: Access) -> Option<ScopeNames<'_>> {
        None
    }

    /// Returns the scopes of a call that makes only the accesses `touched`. The default is none.
    fn call_scopes(&self, _touched: &[Access]) -> Option<ScopeNames<'_>> {
        None
    }
}

/// A plan's choice for an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Planned {
    /// Attach this tag, which is in the plan's graph.
    Tag(TagId),
    /// Attach no tag.
    Untagged,
    /// The plan does not contain the access.
    Unknown,
}

impl Plan for Graph {
    fn graph(&self) -> &Graph {
        self
    }

    /// LLVM ignores sizes, so a tagged access with a size of its own is `Unknown`.
    fn planned(&self, access: Access) -> Planned {
        match access {
            Access { tag: Some(tag), size: None, .. } => Planned::Tag(tag),
            Access { tag: None, .. } => Planned::Untagged,
            _ => Planned::Unknown,
        }
    }
}

/// Attaches lowered tags without scopes; [`Lowered`] also attaches scopes. An access that was not
/// lowered is `Unknown`.
impl Plan for Lowering {
    fn graph(&self) -> &Graph {
        self.graph()
    }

    fn planned(&self, access: Access) -> Planned {
        match (self.tag(access), self.why(access)) {
            (Some(tag), _) => Planned::Tag(tag),
            (None, Some(_)) => Planned::Untagged,
            (None, None) => Planned::Unknown,
        }
    }
}

/// The plan that attaches the tags and scopes of a [`Lowering`] to accesses and to calls.
///
/// ```
/// use tbaa::declare::{Declarations, Policy, Record, Target};
/// use tbaa_lower::emit::{Lowered, Plan};
/// use tbaa_lower::{Lowering, Options};
/// use tbaa::{Graph, Oracle, AliasRule};
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(Record::structure("P").field("x", "int").field("y", "float"))?;
/// let mut graph = Graph::new();
/// let mut types = types.into_tagged(Policy::Rfc);
/// let (x, y) = (types.tag(&mut graph, "P.x")?, types.tag(&mut graph, "P.y")?);
///
/// let oracle = Oracle::new(&graph, AliasRule::Union);
/// let mut lowering = Lowering::new(Options::new().scopes());
/// lowering.lower(&oracle, [x, y])?;
/// let plan = Lowered::new(&lowering, &oracle);
/// assert_eq!(plan.scopes(x.into()).unwrap().noalias, plan.scopes(y.into()).unwrap().own);
/// assert_eq!(plan.call_scopes(&[x.into()]).unwrap().noalias, plan.scopes(y.into()).unwrap().own);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lowered<'a, G = Graph> {
    lowering: &'a Lowering,
    oracle: &'a Oracle<G>,
    alone: bool,
}

impl<'a, G: Borrow<Graph>> Lowered<'a, G> {
    /// Returns the plan of a lowering whose input tags are in the graph of `oracle`.
    #[must_use]
    pub fn new(lowering: &'a Lowering, oracle: &'a Oracle<G>) -> Self {
        Lowered { lowering, oracle, alone: false }
    }

    /// Attaches no tags, only the scopes of [`Options::scopes`](crate::Options::scopes).
    #[must_use]
    pub fn scopes_alone(self) -> Self {
        Lowered { alone: true, ..self }
    }
}

impl<G: Borrow<Graph>> Plan for Lowered<'_, G> {
    fn graph(&self) -> &Graph {
        self.lowering.graph()
    }

    fn planned(&self, access: Access) -> Planned {
        if self.alone { Planned::Untagged } else { self.lowering.planned(access) }
    }

    fn scopes(&self, access: Access) -> Option<ScopeNames<'_>> {
        self.lowering.scopes().of(access)
    }

    fn call_scopes(&self, touched: &[Access]) -> Option<ScopeNames<'_>> {
        Some(self.lowering.scopes().of_call(self.oracle, touched))
    }
}

/// The plan that attaches the tags of `tags`, and the scopes of the accesses in `classes`.
pub(super) struct ClassPlan<'a> {
    pub(super) tags: &'a dyn Plan,
    pub(super) classes: &'a AccessClasses,
}

impl Plan for ClassPlan<'_> {
    fn graph(&self) -> &Graph {
        self.tags.graph()
    }

    fn planned(&self, access: Access) -> Planned {
        self.tags.planned(access)
    }

    fn scopes(&self, access: Access) -> Option<ScopeNames<'_>> {
        self.classes.names(&[access])
    }

    fn call_scopes(&self, touched: &[Access]) -> Option<ScopeNames<'_>> {
        self.classes.names(touched)
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
    /// An operand for the module's named metadata `!tbaa.relations`, which lists the
    /// [`AccessClasses`] that may alias. Each module that uses their scopes needs this operand.
    pub relation: Option<N>,
}

impl<N> Default for Attachments<N> {
    fn default() -> Self {
        Attachments { tag: None, copy: None, alias_scope: None, noalias: None, relation: None }
    }
}

impl<N> Attachments<N> {
    /// Returns the attachments with each node replaced by the result of `change`.
    ///
    /// # Errors
    ///
    /// Returns the first error of `change`.
    pub fn try_map<M, E>(
        &self,
        mut change: impl FnMut(&N) -> Result<M, E>,
    ) -> Result<Attachments<M>, E> {
        let mut of = |node: &Option<N>| node.as_ref().map(&mut change).transpose();
        Ok(Attachments {
            tag: of(&self.tag)?,
            copy: of(&self.copy)?,
            alias_scope: of(&self.alias_scope)?,
            noalias: of(&self.noalias)?,
            relation: of(&self.relation)?,
        })
    }
}

impl<S: Sink> Emitter<S> {
    /// Emits the nodes for an access. An access whose `tag` is `None` has no nodes.
    ///
    /// # Errors
    ///
    /// [`EmitError::Unplanned`] if the plan lacks the access, or an error of [`Emitter::tag`].
    pub fn access(
        &mut self,
        plan: &dyn Plan,
        access: impl Into<Access>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let access = access.into();
        if access.tag.is_none() {
            return Ok(Attachments::default());
        }
        let tag = planned(plan, access)?.map(|tag| self.tag(plan.graph(), tag)).transpose()?;
        Ok(Attachments { tag, ..self.scopes(plan.scopes(access))? })
    }

    /// Emits the nodes for a call. The call must make only the accesses `touched`, and accesses to
    /// memory that other code cannot access. If `touched` has one access, the call gets its tag.
    ///
    /// A call may write what it accesses, so its tag never says that memory is immutable.
    ///
    /// # Errors
    ///
    /// Fails as [`Emitter::access`] does.
    pub fn call<A: Into<Access> + Copy>(
        &mut self,
        plan: &dyn Plan,
        touched: &[A],
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let touched: Vec<Access> = touched.iter().map(|&access| access.into()).collect();
        let mut tag = None;
        if let [access] = touched[..]
            && access.tag.is_some()
            && let Some(planned) = planned(plan, access)?
        {
            let marked = self.tag(plan.graph(), planned)?;
            tag = Some(self.unmarked(plan.graph(), planned, marked)?);
        }
        Ok(Attachments { tag, ..self.scopes(plan.call_scopes(&touched))? })
    }

    /// Emits the `!tbaa.struct` node of a copy, with the plan's tags, and the plan's scopes for a
    /// call that makes the same accesses. `graph` is the program's graph, which contains `copy`. A
    /// copy writes, so no tag in the node says that memory is immutable.
    ///
    /// # Errors
    ///
    /// Fails as [`Emitter::access`] does, and if `copy` is not from `graph`.
    pub fn copy(
        &mut self,
        plan: &dyn Plan,
        graph: &Graph,
        copy: CopyId,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        if !graph.owns(copy.node()) {
            return Err(EmitError::ForeignId);
        }
        // A malformed `!tbaa.struct` list gets no attachments.
        let Some(entries) = graph.copy(copy) else { return Ok(Attachments::default()) };
        let touched: Vec<Access> = entries.iter().map(|entry| entry.tag.into()).collect();
        let scopes = self.scopes(plan.call_scopes(&touched))?;
        let list = self.entries(plan, &entries)?;
        Ok(Attachments { copy: list, ..scopes })
    }

    /// Emits the recorded nodes of an instruction.
    ///
    /// # Errors
    ///
    /// Returns [`EmitError::Sink`] if the sink fails.
    pub fn attachments(
        &mut self,
        nodes: &Attachments<Recorded>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        nodes.try_map(|node| self.recorded(node))
    }

    /// Emits a `!tbaa.struct` node. Returns `None` if the plan attaches no tag to an entry.
    fn entries(
        &mut self,
        plan: &dyn Plan,
        entries: &[CopyEntry],
    ) -> Result<Option<S::Node>, EmitError<S::Error>> {
        let mut tags = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(tag) = planned(plan, entry.tag.into())? else { return Ok(None) };
            tags.push(self.copied_tag(plan.graph(), tag)?);
        }
        let int = |value| SinkOperand::Int(Int::i64(value));
        let operands: Vec<_> = entries
            .iter()
            .zip(&tags)
            .flat_map(|(entry, tag)| [int(entry.offset), int(entry.size), SinkOperand::Node(tag)])
            .collect();
        self.sink.node(&operands, Storage::Uniqued).map(Some).map_err(EmitError::Sink)
    }

    fn scopes(
        &mut self,
        names: Option<ScopeNames<'_>>,
    ) -> Result<Attachments<S::Node>, EmitError<S::Error>> {
        let Some(names) = names else { return Ok(Attachments::default()) };
        let alias_scope = self.scope_list(names.domain, names.own)?;
        let noalias = self.scope_list(names.domain, names.noalias)?;
        let relation = self.relation(names.domain, names.rows)?;
        Ok(Attachments { alias_scope, noalias, relation, ..Attachments::default() })
    }
}

/// Returns the tag that a plan has for an access, or an error if the plan lacks the access.
fn planned<E>(plan: &dyn Plan, access: Access) -> Result<Option<TagId>, EmitError<E>> {
    match plan.planned(access) {
        Planned::Tag(tag) => Ok(Some(tag)),
        Planned::Untagged => Ok(None),
        Planned::Unknown => Err(EmitError::Unplanned { access }),
    }
}
