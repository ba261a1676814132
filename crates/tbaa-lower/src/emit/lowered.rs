//! Lowered tags as a plan.

use std::borrow::Borrow;
use std::cell::OnceCell;

use super::plan::{Plan, Planned};
use super::scopes::ScopeNames;
use crate::{AccessScopes, Lowering};
use tbaa::Graph;
use tbaa::{Access, Oracle};

/// The lowered tags, without scopes: [`Lowered`] has them. An access that
/// was not lowered is unknown.
impl Plan for Lowering {
    fn graph(&self) -> &Graph {
        self.graph()
    }

    fn tag(&self, access: Access) -> Planned {
        match (self.tag(access), self.why(access)) {
            (Some(tag), _) => Planned::Tag(tag),
            (None, Some(_)) => Planned::Untagged,
            (None, None) => Planned::Unknown,
        }
    }

    fn scopes(&self, _: Access) -> Option<ScopeNames<'_>> {
        None
    }

    fn call_scopes(&self, _: &[Access]) -> Option<ScopeNames<'_>> {
        None
    }
}

/// Lowered tags with the lowering's own scopes, those of calls included.
///
/// ```
/// use tbaa::declare::{Declarations, Policy, Record, Target};
/// use tbaa_lower::emit::{Lowered, Plan};
/// use tbaa_lower::{Lowering, Options, ScopeForm};
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(Record::structure("P").field("x", "int").field("y", "float"))?;
/// let mut graph = Graph::new();
/// let mut types = types.lower(Policy::Rfc);
/// let (x, y) = (types.tag(&mut graph, "P.x")?, types.tag(&mut graph, "P.y")?);
///
/// let oracle = Oracle::new(&graph, Rules::Union);
/// let mut lowering = Lowering::new(Options::new().scopes(ScopeForm::All));
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
    domain: String,
    /// The sources in each scope, for calls.
    members: OnceCell<Vec<Vec<Access>>>,
}

impl<'a, G: Borrow<Graph>> Lowered<'a, G> {
    /// Returns the plan of a lowering whose sources are `oracle`'s.
    #[must_use]
    pub fn new(lowering: &'a Lowering, oracle: &'a Oracle<G>) -> Self {
        let domain = lowering.scope_domain();
        Lowered { lowering, oracle, alone: false, domain, members: OnceCell::new() }
    }

    /// Leaves the tags off: scopes are all that is attached. The lowering must
    /// have those of [all pairs](crate::ScopeForm::All) for that to say
    /// anything like as much.
    #[must_use]
    pub fn scopes_alone(self) -> Self {
        Lowered { alone: true, ..self }
    }

    fn members(&self) -> &[Vec<Access>] {
        self.members.get_or_init(|| {
            let mut members = vec![Vec::new(); self.lowering.scope_names().len()];
            for source in self.lowering.sources() {
                if let Some(scopes) = self.lowering.scopes_of(source) {
                    members[scopes.scope as usize].push(source);
                }
            }
            members
        })
    }

    fn name(&self, scope: u32) -> &str {
        &self.lowering.scope_names()[scope as usize]
    }
}

impl<G: Borrow<Graph>> Plan for Lowered<'_, G> {
    fn graph(&self) -> &Graph {
        self.lowering.graph()
    }

    fn tag(&self, access: Access) -> Planned {
        if self.alone { Planned::Untagged } else { Plan::tag(self.lowering, access) }
    }

    fn scopes(&self, access: Access) -> Option<ScopeNames<'_>> {
        let scopes: AccessScopes<'_> = self.lowering.scopes_of(access)?;
        let noalias = scopes.noalias().map(|scope| self.name(scope)).collect();
        Some(ScopeNames { domain: &self.domain, own: vec![self.name(scopes.scope)], noalias })
    }

    fn call_scopes(&self, touched: &[Access]) -> Option<ScopeNames<'_>> {
        let alone = |members: &[Access]| {
            let apart = |&member: &Access| {
                touched.iter().all(|&access| !self.oracle.may_alias(member, access))
            };
            !members.is_empty() && members.iter().all(apart)
        };
        let scopes = (0..).zip(self.members()).filter(|(_, members)| alone(members));
        let noalias = scopes.map(|(scope, _)| self.name(scope)).collect();
        Some(ScopeNames { domain: &self.domain, own: Vec::new(), noalias })
    }
}
