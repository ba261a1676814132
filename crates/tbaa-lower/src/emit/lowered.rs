//! Lowered tags as a plan.

use std::borrow::Borrow;

use super::plan::{Plan, Planned};
use crate::Lowering;
use crate::scopes::ScopeNames;
use tbaa::{Access, Graph, Oracle};

/// The lowered tags, without scopes: [`Lowered`] has them. An access that
/// was not lowered is unknown.
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

/// The plan with lowered tags and the lowering's own scopes, including those of calls.
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
    /// Returns the plan of a lowering with the sources of `oracle`.
    #[must_use]
    pub fn new(lowering: &'a Lowering, oracle: &'a Oracle<G>) -> Self {
        Lowered { lowering, oracle, alone: false }
    }

    /// Leaves the tags off: scopes are all that is attached. Without
    /// [`Options::scopes`](crate::Options::scopes) that is nothing.
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
