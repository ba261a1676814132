//! Alias scopes: answers that no tree of types can give.

use std::borrow::Borrow;
use std::fmt::Write;

use tbaa::{Graph, TagId};
use tbaa::{Matrix, Oracle};
use tbaa_lex::table::HashMap;

/// A rule's answers on some tags as `!alias.scope` and `!noalias`.
///
/// Tags that answer alike are a class. An access is in the scope of its tag's
/// class, and names those of the classes that it never aliases; so LLVM answers
/// `NoAlias` on exactly the pairs on which the rule does. What a scope stands
/// for never changes: types and tags that are added later make classes of other
/// names, so old code and new may be inlined into each other.
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
/// let scopes = Scopes::new("my JIT", &oracle, &tags, None);
/// let names = scopes.of(tags[0]).unwrap();
/// assert_eq!(names.own, ["0 (int, int, 0)"]);
/// assert_eq!(names.noalias, ["1 (float, float, 0)"]);
/// # Ok::<(), tbaa::BuildError>(())
/// ```
///
/// LLVM: `ScopedNoAliasAAResult`.
#[derive(Clone, Debug)]
pub struct Scopes {
    domain: String,
    class_of: HashMap<TagId, u32>,
    classes: Vec<Class>,
}

#[derive(Clone, Debug)]
struct Class {
    name: String,
    members: Vec<TagId>,
    /// The classes that never alias it, ascending.
    apart: Vec<u32>,
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
}

impl Scopes {
    /// Finds the classes of `tags`.
    ///
    /// `told_apart` are the pairs of the same list that LLVM answers by their
    /// tags already, such as a [`Matrix`] of their lowered tags under rule
    /// `llvm`: of those nothing is said, and a tag of which nothing is to be
    /// said has no scope.
    ///
    /// `domain` names the graph to LLVM. Modules that may be linked or inlined
    /// into each other may share a name only if their tags are of one graph.
    ///
    /// It takes time and memory in proportion to the number of pairs.
    ///
    /// # Panics
    ///
    /// If `told_apart` is of a shorter list.
    #[must_use]
    pub fn new<G: Borrow<Graph>>(
        domain: impl Into<String>,
        oracle: &Oracle<G>,
        tags: &[TagId],
        told_apart: Option<&Matrix>,
    ) -> Self {
        let may = oracle.matrix(tags);
        let apart = |a: usize, b: usize| {
            !may.may_alias(a, b) && told_apart.is_none_or(|told| told.may_alias(a, b))
        };
        // Classes by row, in the order of their first tags.
        let mut by_row: HashMap<Vec<u64>, u32> = HashMap::default();
        let mut first = Vec::new();
        let mut scopes =
            Scopes { domain: domain.into(), class_of: HashMap::default(), classes: Vec::new() };
        for (a, &tag) in tags.iter().enumerate() {
            let mut row = vec![0_u64; tags.len().div_ceil(64)];
            (0..tags.len()).filter(|&b| apart(a, b)).for_each(|b| row[b / 64] |= 1 << (b % 64));
            if scopes.class_of.contains_key(&tag) || row.iter().all(|&word| word == 0) {
                continue;
            }
            let class = *by_row.entry(row).or_insert_with(|| {
                first.push(a);
                scopes.classes.push(Class {
                    name: String::new(),
                    members: Vec::new(),
                    apart: Vec::new(),
                });
                scopes.classes.len() as u32 - 1
            });
            scopes.class_of.insert(tag, class);
            scopes.classes[class as usize].members.push(tag);
        }
        for (class, &a) in scopes.classes.iter_mut().zip(&first) {
            class.name = name(oracle.graph(), &class.members);
            class.apart =
                (0_u32..).zip(&first).filter(|&(_, &b)| apart(a, b)).map(|(b, _)| b).collect();
        }
        scopes
    }

    /// Returns the number of classes: of scopes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Returns whether there is no scope.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Returns the scopes of accesses with a tag; `None` where nothing is said
    /// of it.
    #[must_use]
    pub fn of(&self, tag: TagId) -> Option<ScopeNames<'_>> {
        let class = &self.classes[*self.class_of.get(&tag)? as usize];
        Some(ScopeNames {
            domain: &self.domain,
            own: vec![&class.name],
            noalias: class.apart.iter().map(|&b| &*self.classes[b as usize].name).collect(),
        })
    }

    /// Returns the scopes of a call that makes accesses with the tags `touched`
    /// only, and accesses that nothing else can make: those that the call
    /// leaves alone. A call is in no scope itself.
    ///
    /// `oracle` is that of [`Scopes::new`], grown or not.
    #[must_use]
    pub fn of_call<G: Borrow<Graph>>(
        &self,
        oracle: &Oracle<G>,
        touched: &[TagId],
    ) -> ScopeNames<'_> {
        let alone = |class: &&Class| {
            let mut members = class.members.iter();
            members.all(|&member| touched.iter().all(|&tag| !oracle.may_alias(member, tag)))
        };
        let noalias = self.classes.iter().filter(alone).map(|class| &*class.name).collect();
        ScopeNames { domain: &self.domain, own: Vec::new(), noalias }
    }
}

/// The name of a class: the numbers of its tags, which no other class can have,
/// and what the first is called.
fn name(graph: &Graph, members: &[TagId]) -> String {
    let mut name = String::new();
    for (position, &tag) in members.iter().enumerate() {
        let _ = match (position, graph.tag(tag)) {
            (0, Ok(parts)) => {
                let of = |ty| {
                    let name = graph.ty(ty).name().unwrap_or_default();
                    String::from_utf8_lossy(name).into_owned()
                };
                let (base, access) = (of(parts.base), of(parts.access));
                write!(name, "{} ({base}, {access}, {})", tag.index(), parts.offset)
            }
            _ => write!(name, " {}", tag.index()),
        };
    }
    name
}
