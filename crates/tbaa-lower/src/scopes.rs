//! Alias scopes (`!alias.scope`, `!noalias`), which can express relations that no type tree can.
//!
//! An access with scopes `S` does not alias one whose `!noalias` list contains all of `S`. With a
//! scope for each class (set of accesses), all in one domain, any relation between classes can be
//! expressed. If LLVM merges two accesses, the merged access has the scopes of both accesses, and
//! its `!noalias` list has the scopes that are in both `!noalias` lists. Scope and domain nodes are
//! uniqued, not distinct, so the copies that inlining makes are the same nodes.
//!
//! LLVM: `ScopedNoAliasAAResult`, `MDNode::getMostGenericAliasScope`.

use std::borrow::Borrow;

use super::relation::Relation;
use super::source::Key;
use tbaa::parts::table::HashMap;
use tbaa::{Access, Graph, Oracle};

/// A lowering's scopes, one for each class of accesses, and the `!noalias` list of each class.
///
/// A [`Lowering`](super::Lowering) with [`Options::scopes`] has a scope for each class. The meaning
/// of a scope never changes, so old and new code may be inlined into each other.
///
/// [`Options::scopes`]: super::Options::scopes
///
/// ```
/// use tbaa::{Graph, Oracle, AliasRule};
/// use tbaa_lower::{Lowering, Options};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let float = b.scalar_type("float", root)?;
/// let tags = [b.struct_tag(int, int, 0)?, b.struct_tag(float, float, 0)?];
///
/// let oracle = Oracle::new(&graph, AliasRule::Union);
/// let mut lowering = Lowering::new(Options::new().scopes());
/// lowering.lower(&oracle, tags).unwrap();
/// let names = lowering.scopes().of(tags[0]).unwrap();
/// assert_eq!((names.own, names.noalias), (vec!["0 int"], vec!["1 float"]));
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// LLVM: `ScopedNoAliasAAResult`.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    pub(super) domain: String,
    pub(super) names: Vec<String>,
    /// For each scope, the list of the scopes that its accesses do not alias.
    pub(super) lists: Vec<List>,
    members: Vec<Vec<Key>>,
    of: HashMap<Key, u32>,
    /// For each scope, the number of the root above its accesses' types.
    groups: Vec<Option<u32>>,
    /// The total length of [`List::but`] in all lists.
    pub(super) entries: usize,
}

/// A scope's `!noalias` list: the scopes under the same root, numbered below `end`, not in `but`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct List {
    pub(super) end: u32,
    /// The excluded scopes, in ascending order.
    pub(super) but: Vec<u32>,
}

/// The scope of an access, and the scopes that the access does not alias, as indices into
/// [`Lowering::scope_names`](super::Lowering::scope_names).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccessScopes<'l> {
    /// The only scope in the access's `!alias.scope` list.
    pub scope: u32,
    scopes: &'l Scopes,
}

impl<'l> AccessScopes<'l> {
    /// Returns the scopes of the access's `!noalias` list, in ascending order.
    pub fn noalias(&self) -> impl Iterator<Item = u32> + use<'l> {
        let (scope, scopes) = (self.scope, self.scopes);
        let List { end, but } = &scopes.lists[scope as usize];
        let group = |scope: u32| *scopes.groups.get(scope as usize)?;
        let own = group(scope);
        (0..*end).filter(move |at| group(*at) == own && but.binary_search(at).is_err())
    }
}

/// The names of the scopes of one access or call.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ScopeNames<'a> {
    /// The domain of all these scopes.
    pub domain: &'a str,
    /// The scopes that contain the access or call, for `!alias.scope`.
    pub own: Vec<&'a str>,
    /// The scopes of accesses that the access or call never aliases, for `!noalias`.
    pub noalias: Vec<&'a str>,
    /// The [rows](crate::AccessClasses) of the scopes in `own`, for the metadata `!tbaa.relations`.
    pub rows: Vec<String>,
}

/// A new class, for which a scope is added.
pub(super) struct Scoped<'c> {
    pub(super) name: String,
    /// The existing scopes that the class may alias, in ascending order.
    pub(super) near: &'c [u32],
    /// True if the class is in the relation that [`Scopes::add`] gets.
    pub(super) known: bool,
}

impl Scopes {
    /// Returns the number of scopes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there are no scopes.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the scopes of an access, or `None` if it has none.
    pub fn of(&self, access: impl Into<Access>) -> Option<ScopeNames<'_>> {
        let numbers = self.numbers(access.into())?;
        let own = vec![self.name(numbers.scope)];
        let noalias = numbers.noalias().map(|scope| self.name(scope)).collect();
        Some(ScopeNames { domain: &self.domain, own, noalias, rows: Vec::new() })
    }

    /// Returns, for a call's `!noalias`, the scopes whose accesses the call cannot alias. The call
    /// itself is in no scope. `touched` must contain all accesses of the call, except those to
    /// memory that no other code can access.
    ///
    /// `oracle` must be the one that [`Lowering::lower`](super::Lowering::lower) got, perhaps with
    /// a larger graph.
    pub fn of_call<G: Borrow<Graph>, A: Into<Access> + Copy>(
        &self,
        oracle: &Oracle<G>,
        touched: &[A],
    ) -> ScopeNames<'_> {
        let apart =
            |key: &Key| touched.iter().all(|&touched| !oracle.may_alias(key.access(), touched));
        let scopes = (0..).zip(&self.members).filter(|(_, members)| members.iter().all(apart));
        let noalias = scopes.map(|(scope, _)| self.name(scope)).collect();
        ScopeNames { domain: &self.domain, own: Vec::new(), noalias, rows: Vec::new() }
    }

    fn name(&self, scope: u32) -> &str {
        &self.names[scope as usize]
    }

    pub(super) fn numbers(&self, access: Access) -> Option<AccessScopes<'_>> {
        let scope = self.number(Key::of(access)?)?;
        Some(AccessScopes { scope, scopes: self })
    }

    pub(super) fn number(&self, key: Key) -> Option<u32> {
        self.of.get(&key).copied()
    }

    #[cfg(feature = "serde")]
    pub(super) fn members(&self, scope: u32) -> &[Key] {
        self.members.get(scope as usize).map_or(&[], |members| members)
    }

    /// Adds an access to a scope. `group` is the number of the root above the access's types.
    pub(super) fn enter(&mut self, scope: u32, group: u32, key: Key) {
        self.of.insert(key, scope);
        self.members.resize_with(self.names.len(), Vec::new);
        self.groups.resize(self.names.len(), None);
        self.members[scope as usize].push(key);
        self.groups[scope as usize] = Some(group);
    }

    /// Adds a scope for each new class, and returns the index of the first new scope. A new scope's
    /// `!noalias` list is empty if all [`List::but`] would otherwise take more than `most` bytes.
    pub(super) fn add(&mut self, relation: &Relation, classes: &[Scoped<'_>], most: usize) -> u32 {
        let first = self.names.len() as u32;
        let number = |at: usize| first + at as u32;
        let unknown = (0..classes.len()).filter(|&at| !classes[at].known);
        let unknown: Vec<u32> = unknown.map(number).collect();
        for (at, class) in classes.iter().enumerate() {
            self.names.push(format!("{} {}", number(at), class.name));
            let (mut list, mut end) = (class.near.to_vec(), first);
            if class.known {
                list.extend(relation.near(at).map(number).chain(unknown.iter().copied()));
                end = number(classes.len());
            }
            list.sort_unstable();
            list.dedup();
            let fits = self.entries.saturating_add(list.len()) <= most / 4;
            self.entries += if fits { list.len() } else { 0 };
            self.lists.push(if fits { List { end, but: list } } else { List::default() });
        }
        first
    }
}
