//! The part of a JIT that makes tags, and a trait for the part that owns the types.

use super::super::emitter::Emitter;
use super::super::plan::{ClassPlan, Lowered, Plan};
use super::super::recorded::Recorder;
use super::{JitError, JitOptions};
use crate::{AccessClasses, Lowering, Shared, tags_of_clang};
use tbaa::declare::{DeclId, Declarations, DeclareError, TaggedTypes};
use tbaa::{Graph, Oracle, Session, Tag, TagId};

/// An owner of declared types, their graph and its oracle. It is a [`Session`], or an equivalent in
/// a binding for another language.
pub trait Typed {
    /// Returns the types, with the policy that tags them.
    fn tagged(&self) -> &TaggedTypes;

    /// Returns the oracle, which contains the graph.
    fn oracle(&self) -> &Oracle;

    /// Calls `change` on the types and the graph, and updates the oracle: [`Oracle::update`].
    fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R;
}

impl Typed for Session {
    fn tagged(&self) -> &TaggedTypes {
        self.tagged()
    }

    fn oracle(&self) -> &Oracle {
        self.oracle()
    }

    fn update<R>(&mut self, change: impl FnOnce(&mut TaggedTypes, &mut Graph) -> R) -> R {
        self.update(change)
    }
}

/// The part of a [`Jit`](super::Jit) without the types: the tags for stock LLVM, which are lowered
/// on demand. An owner that cannot move its types into a JIT stores this part, and rebuilds the JIT
/// from it and the same types.
#[derive(Debug)]
pub struct Tagging {
    pub(super) options: JitOptions,
    /// `None` if tags are attached unchanged.
    pub(super) lowering: Option<Lowering>,
    pub(super) classes: Option<AccessClasses>,
    /// The graph of the tags that clang gives to the shared records.
    pub(super) theirs: Option<Graph>,
    pub(super) nodes: Emitter<Recorder>,
    /// Tags to be lowered together with the next requested ones.
    pub(super) waiting: Vec<TagId>,
}

impl Tagging {
    pub(super) fn of(
        options: JitOptions,
        lowering: Option<Lowering>,
        theirs: Option<Graph>,
    ) -> Tagging {
        let (nodes, waiting) = (Emitter::new(Recorder), Vec::new());
        let classes = options.no_classes();
        Tagging { options, lowering, classes, theirs, nodes, waiting }
    }

    /// Calls `then` with the emitter and the plan, which maps each access to its tag and scopes.
    /// If this form of tags has classes, the scopes are those of the classes.
    pub(super) fn with_plan<R>(
        &mut self,
        oracle: &Oracle,
        then: impl FnOnce(&mut Emitter<Recorder>, &dyn Plan) -> R,
    ) -> R {
        let lowered = self.lowering.as_ref().map(|lowering| {
            let plan = Lowered::new(lowering, oracle);
            if self.options.scopes_alone() { plan.scopes_alone() } else { plan }
        });
        let tags = lowered.as_ref().map_or(oracle.graph() as &dyn Plan, |plan| plan as &dyn Plan);
        match &self.classes {
            Some(classes) => then(&mut self.nodes, &ClassPlan { tags, classes }),
            None => then(&mut self.nodes, tags),
        }
    }
}

/// Returns the graph of clang's tags for the shared records, and pairs of tags for
/// [`Lowering::fix`]. The first tag of each pair is made in `graph`.
pub(super) fn shared_tags(
    types: &Declarations,
    graph: &mut Graph,
    options: &JitOptions,
) -> Result<(Graph, Vec<(TagId, TagId)>), JitError> {
    let shared = Shared::new(types, records(types, &options.shared)?);
    Ok(tags_of_clang(types, graph, |record| shared.has(record))?)
}

/// Returns two tags for the first lowering. The first tag may alias everything, so its node is the
/// ancestor of all others, and a later tag that may alias several others can get this node. The
/// second aliases only the first and itself: without it, other tags could share the first's node.
pub(super) fn anchors(of: &mut impl Typed) -> Result<[TagId; 2], JitError> {
    let above = of.update(|types, graph| types.tag(graph, "*char"))?;
    let other = of.update(|_, graph| {
        // The tag was just made, so reading it succeeds.
        let Ok(Tag { access: char, .. }) = graph.tag(above) else { return Ok(above) };
        let mut b = graph.builder();
        let nobody = b.sized_type(char, 1, "nobody's", &[])?;
        b.access_tag(nobody, nobody, 0, 1)
    });
    Ok([above, other.map_err(DeclareError::Build)?])
}

pub(super) fn records(types: &Declarations, names: &[String]) -> Result<Vec<DeclId>, JitError> {
    let find = |name: &String| {
        let found = types.named(name).filter(|&id| types.is_record(id));
        let found = found.filter(|&id| types.size_of(id).is_some());
        found.ok_or_else(|| JitError::NotDeclared { record: name.clone() })
    };
    names.iter().map(find).collect()
}
