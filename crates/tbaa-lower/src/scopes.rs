//! Scopes: `!alias.scope` and `!noalias`, which say what no tree of types can.
//!
//! An access with scope list `S` does not alias one whose `!noalias` list has
//! all of `S`. With one scope for each class of sources, all in one domain,
//! that expresses any relation, and it survives merging: LLVM then keeps both
//! scopes and what both lists have. Scopes and domain are named by strings, so
//! that inlining does not clone them.
//!
//! LLVM: `ScopedNoAliasAAResult`, `MDNode::getMostGenericAliasScope`.

use std::borrow::Borrow;
use std::fmt::Write;

use super::relation::Relation;
use super::source::Key;
use tbaa::{Access, Graph, Oracle, TagId};
use tbaa_lex::table::HashMap;

/// Classes of accesses, each with a scope, and which classes do not alias.
///
/// Those of a [`Lowering`](super::Lowering) grow with it: [`Lowering::scopes`].
/// Those of [`Scopes::new`] are exact, and need no lowering.
///
/// [`Lowering::scopes`]: super::Lowering::scopes
///
/// ```
/// use tbaa_lower::emit::Scopes;
/// use tbaa::{Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let float = b.scalar_type("float", root)?;
/// let tags = [b.struct_tag(int, int, 0, false)?, b.struct_tag(float, float, 0, false)?];
///
/// let oracle = Oracle::new(&graph, Rules::Union);
/// let scopes = Scopes::new("my JIT", &oracle, &tags);
/// let names = scopes.of(tags[0]).unwrap();
/// assert_eq!(names.own, ["0 (int, int, 0)"]);
/// assert_eq!(names.noalias, ["1 (float, float, 0)"]);
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// LLVM: `ScopedNoAliasAAResult`.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    /// What names the program to LLVM.
    pub(super) domain: String,
    pub(super) names: Vec<String>,
    /// Of each scope, those that an access with it does not alias.
    pub(super) lists: Vec<List>,
    /// The accesses in each scope.
    members: Vec<Vec<Key>>,
    /// The scope of each access.
    of: HashMap<Key, u32>,
    /// The group of sources that each scope's accesses are of.
    groups: Vec<Option<u32>>,
    /// The numbers in all lists.
    pub(super) entries: usize,
}

/// Scopes that an access does not alias, in ascending order.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum List {
    Only(Vec<u32>),
    /// All of its group below a number, but these.
    AllBut(u32, Vec<u32>),
}

impl List {
    pub(super) fn parts(&self) -> (u32, &[u32]) {
        match self {
            List::Only(list) => (0, list),
            List::AllBut(end, list) => (*end, list),
        }
    }
}

/// What an access bears: its scope, and those that it does not alias. Both are
/// indices into [`Lowering::scope_names`](super::Lowering::scope_names).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccessScopes<'l> {
    /// The one scope of its `!alias.scope` list.
    pub scope: u32,
    scopes: &'l Scopes,
}

impl<'l> AccessScopes<'l> {
    /// Returns the scopes of its `!noalias` list, in ascending order.
    pub fn noalias(&self) -> impl Iterator<Item = u32> + use<'l> {
        let (scope, scopes) = (self.scope, self.scopes);
        let list = &scopes.lists[scope as usize];
        let (end, but) = list.parts();
        let only = if let List::Only(list) = list { &list[..] } else { &[] };
        let group = |scope: u32| *scopes.groups.get(scope as usize)?;
        let own = group(scope);
        let all = (0..end).filter(move |at| group(*at) == own && but.binary_search(at).is_err());
        only.iter().copied().chain(all)
    }
}

/// The scopes of one access or call, by name.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ScopeNames<'a> {
    /// The domain of all of them.
    pub domain: &'a str,
    /// Scopes that the access is in, for `!alias.scope`.
    pub own: Vec<&'a str>,
    /// Scopes of accesses that it never aliases, for `!noalias`.
    pub noalias: Vec<&'a str>,
    /// Of [classes](crate::Classes) the rows of those in `own`, for `!tbaa.relations`.
    pub rows: Vec<String>,
}

/// What a class of newcomers is to the scopes.
pub(super) struct Scoped<'c> {
    /// The name of its scope.
    pub(super) name: String,
    /// The scopes there that it may alias, in ascending order.
    pub(super) near: &'c [u32],
    /// Whether the relation knows it.
    pub(super) known: bool,
}

impl Scopes {
    /// Finds the classes of `tags`, by a rule's answers on all pairs.
    ///
    /// Tags that answer alike are a class. So LLVM answers `NoAlias` on exactly the
    /// pairs on which the rule does. What a scope stands for never changes: types
    /// and tags that are added later make classes of other names, so old code and
    /// new may be inlined into each other.
    ///
    /// `domain` names the graph to LLVM. Modules that may be linked or inlined
    /// into each other may share a name only if their tags are of one graph.
    ///
    /// It takes time and memory in proportion to the number of pairs.
    #[must_use]
    pub fn new<G: Borrow<Graph>>(
        domain: impl Into<String>,
        oracle: &Oracle<G>,
        tags: &[TagId],
    ) -> Self {
        let may = oracle.matrix(tags);
        let apart = |a: usize, b: usize| !may.may_alias(a, b);
        // Classes by row, in the order of their first tags.
        let mut by_row: HashMap<Vec<u64>, u32> = HashMap::default();
        let mut first = Vec::new();
        let mut scopes = Scopes { domain: domain.into(), ..Scopes::default() };
        for (a, &tag) in tags.iter().enumerate() {
            let key = Key { tag, size: None };
            let mut row = vec![0_u64; tags.len().div_ceil(64)];
            (0..tags.len()).filter(|&b| apart(a, b)).for_each(|b| row[b / 64] |= 1 << (b % 64));
            if scopes.of.contains_key(&key) || row.iter().all(|&word| word == 0) {
                continue;
            }
            let class = *by_row.entry(row).or_insert_with(|| {
                first.push(a);
                scopes.members.push(Vec::new());
                first.len() as u32 - 1
            });
            scopes.of.insert(key, class);
            scopes.members[class as usize].push(key);
        }
        for (members, &a) in scopes.members.iter().zip(&first) {
            scopes.names.push(name(oracle.graph(), members));
            let list = (0_u32..).zip(&first).filter(|&(_, &b)| apart(a, b)).map(|(b, _)| b);
            scopes.lists.push(List::Only(list.collect()));
        }
        scopes
    }

    /// Returns the number of scopes: of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns whether there is no scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the scopes of an access; `None` where nothing is said of it.
    #[must_use]
    pub fn of(&self, access: impl Into<Access>) -> Option<ScopeNames<'_>> {
        let numbers = self.numbers(access.into())?;
        let own = vec![self.name(numbers.scope)];
        let noalias = numbers.noalias().map(|scope| self.name(scope)).collect();
        Some(ScopeNames { domain: &self.domain, own, noalias, rows: Vec::new() })
    }

    /// Returns the scopes of a call that makes the accesses `touched` only, and accesses that nothing else can make: those that the call
    /// leaves alone. A call is in no scope itself.
    ///
    /// `oracle` is the one that the scopes were made with, grown or not.
    #[must_use]
    pub fn of_call<G: Borrow<Graph>, A: Into<Access> + Copy>(
        &self,
        oracle: &Oracle<G>,
        touched: &[A],
    ) -> ScopeNames<'_> {
        let apart = |key: &Key| touched.iter().all(|&it| !oracle.may_alias(key.access(), it));
        let scopes = (0..).zip(&self.members).filter(|(_, members)| members.iter().all(apart));
        let noalias = scopes.map(|(scope, _)| self.name(scope)).collect();
        ScopeNames { domain: &self.domain, own: Vec::new(), noalias, rows: Vec::new() }
    }

    fn name(&self, scope: u32) -> &str {
        &self.names[scope as usize]
    }

    /// The scopes of an access, by their numbers.
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

    /// Puts an access of a group of sources in a scope.
    pub(super) fn enter(&mut self, scope: u32, group: u32, key: Key) {
        self.of.insert(key, scope);
        self.members.resize_with(self.names.len(), Vec::new);
        self.groups.resize(self.names.len(), None);
        self.members[scope as usize].push(key);
        self.groups[scope as usize] = Some(group);
    }

    /// Adds a batch of classes, a scope for each; returns the first scope. A list that
    /// would make all take more than `most` bytes stays empty.
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
            self.lists.push(match fits {
                true => List::AllBut(end, list),
                false => List::Only(Vec::new()),
            });
        }
        first
    }
}

/// The name of a class: the numbers of its tags, which no other class can have,
/// and what the first is called.
fn name(graph: &Graph, members: &[Key]) -> String {
    let mut name = String::new();
    for (position, key) in members.iter().enumerate() {
        let index = key.tag.index();
        let _ = match (position, graph.tag(key.tag)) {
            (0, Ok(parts)) => {
                let of = |ty| {
                    let name = graph.ty(ty).name().unwrap_or_default();
                    String::from_utf8_lossy(name).into_owned()
                };
                let (base, access) = (of(parts.base), of(parts.access));
                write!(name, "{index} ({base}, {access}, {})", parts.offset)
            }
            _ => write!(name, " {index}"),
        };
    }
    name
}
