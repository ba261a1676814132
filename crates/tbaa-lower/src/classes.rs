//! Describes a program's exact alias relation in metadata, for the LLVM plugin `tbaa-plugin`.

use std::borrow::Borrow;

use super::error::LowerError;
use super::fingerprint::Fingerprint;
use super::scopes::ScopeNames;
use tbaa::parts::Vicinity;
use tbaa::parts::table::{HashMap, IndexMap};
use tbaa::{Access, AliasRule, Graph, Oracle, Size, TagId};

/// Groups accesses that may alias the same others into classes, and lists which classes may alias.
///
/// An access gets one scope, named after its class, and no `!noalias` list, so the scope has no
/// effect in stock LLVM. Classes are numbered from 0. The *row* of a class lists the lower-numbered
/// classes that it may alias. A row never changes, so modules made at different times may be
/// linked. The analysis in the crate `tbaa-plugin` reads rows and scopes.
///
/// A call may have the scopes of everything that it and its callees access. If these accesses are
/// unknown, attach no scopes: LLVM puts a call's scopes on every access of an inlined callee.
///
/// ```
/// use tbaa::{Graph, Oracle, AliasRule};
/// use tbaa_lower::AccessClasses;
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let [int, float, any] = [("int", root), ("float", root), ("any", root)]
///     .map(|(name, parent)| b.scalar_type(name, parent).unwrap());
/// let tags = [int, float, any].map(|ty| b.struct_tag(ty, ty, 0).unwrap());
///
/// let oracle = Oracle::new(&graph, AliasRule::Union);
/// let mut classes = AccessClasses::new("my JIT");
/// classes.add(&oracle, tags)?;
/// assert_eq!(classes.scope(tags[1]).unwrap(), "tbaa:my JIT:1");
/// assert_eq!(classes.rows().collect::<Vec<_>>(), ["0", "1", "2"], "none aliases another");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccessClasses {
    domain: String,
    rule: Option<AliasRule>,
    /// The class of each access.
    accesses: IndexMap<(TagId, Option<Size>), u32>,
    /// For each class, the lower-numbered classes that it may alias, in ascending order.
    rows: Vec<Vec<u32>>,
    /// The name of each class's scope.
    names: Vec<String>,
    /// An index that finds a superset of the accesses that a given access may alias, and the number
    /// of elements of `accesses` that are in the index.
    vicinity: (Vicinity, usize),
}

impl AccessClasses {
    /// Returns an empty list of classes, to which accesses can be added. `lineage` is a name that
    /// no other program's classes have.
    #[must_use]
    pub fn new(lineage: &str) -> Self {
        let domain = format!("tbaa:{lineage}");
        let (accesses, rows, names) = (IndexMap::default(), Vec::new(), Vec::new());
        AccessClasses { domain, rule: None, accesses, rows, names, vicinity: Default::default() }
    }

    /// Returns the classes of these accesses. Add no more accesses to the result. The names of the
    /// scopes contain a fingerprint of the accesses and of the pairs that may alias.
    ///
    /// # Errors
    ///
    /// Fails as [`AccessClasses::add`] does.
    pub fn closed<G: Borrow<Graph>, A: Into<Access>>(
        oracle: &Oracle<G>,
        accesses: impl IntoIterator<Item = A>,
    ) -> Result<Self, LowerError> {
        let mut classes = AccessClasses::new("");
        classes.add(oracle, accesses)?;
        let mut print = Fingerprint::new();
        print.tags(oracle.graph(), classes.accesses.keys().map(|key| key.0));
        for (&(_, size), &class) in &classes.accesses {
            print.number(size.map_or(u64::MAX, u64::from));
            print.number(u64::from(class));
        }
        for row in &classes.rows {
            print.number(row.len() as u64);
            row.iter().for_each(|&class| print.number(u64::from(class)));
        }
        classes.domain = format!("tbaa:{print}");
        for (class, name) in classes.names.iter_mut().enumerate() {
            *name = format!("{}:{class}", classes.domain);
        }
        Ok(classes)
    }

    /// Adds accesses, except untagged ones and those that were added before.
    ///
    /// # Errors
    ///
    /// Returns [`LowerError::ForeignTag`] or [`LowerError::OtherRule`], and adds nothing.
    pub fn add<G: Borrow<Graph>, A: Into<Access>>(
        &mut self,
        oracle: &Oracle<G>,
        accesses: impl IntoIterator<Item = A>,
    ) -> Result<(), LowerError> {
        if let Some(before) = self.rule.filter(|&rule| rule != oracle.rule()) {
            return Err(LowerError::OtherRule { before });
        }
        let mut new: IndexMap<(TagId, Option<Size>), ()> = IndexMap::default();
        for access in accesses {
            let Access { tag: Some(tag), size, .. } = access.into() else { continue };
            if !oracle.graph().owns_tag(tag) {
                return Err(LowerError::ForeignTag);
            }
            if !self.accesses.contains_key(&(tag, size)) {
                new.insert((tag, size), ());
            }
        }
        let known = self.accesses.keys().next();
        if known.is_some_and(|key| !oracle.graph().owns_tag(key.0)) {
            return Err(LowerError::ForeignTag);
        }
        self.rule = Some(oracle.rule());
        let first = self.accesses.len();
        // `u32::MAX` is not a class. The loop below sets the classes of the new accesses.
        self.accesses.extend(new.into_keys().map(|key| (key, u32::MAX)));
        self.list(oracle);
        // New accesses share a class if they may alias each other and the same other accesses.
        let mut by_row: HashMap<(Vec<u32>, Vec<u32>), u32> = HashMap::default();
        for at in first..self.accesses.len() {
            let (own, _) = self.access(at);
            let all = || (0..self.accesses.len() as u32).collect();
            let near = self.vicinity.0.of(oracle, own).unwrap_or_else(all);
            let (mut lower, mut news, mut is_reflexive) = (Vec::new(), Vec::new(), false);
            let mut earlier = Vec::new();
            for other in near {
                let (access, class) = self.access(other as usize);
                if !oracle.may_alias(own, access) {
                    continue;
                }
                is_reflexive |= other as usize == at;
                match other as usize {
                    other if other < first => lower.push(class),
                    other => {
                        news.push(other as u32);
                        earlier.extend((other < at).then_some(class));
                    }
                }
            }
            lower.sort_unstable();
            lower.dedup();
            let row = (lower, news);
            let class = match by_row.get(&row) {
                Some(&class) if is_reflexive => class,
                _ => {
                    let mut lower = row.0.clone();
                    lower.extend(earlier);
                    lower.sort_unstable();
                    lower.dedup();
                    let class = self.rows.len() as u32;
                    self.rows.push(lower);
                    self.names.push(format!("{}:{class}", self.domain));
                    by_row.insert(row, class);
                    class
                }
            };
            self.accesses[at] = class;
        }
        Ok(())
    }

    fn access(&self, at: usize) -> (Access, u32) {
        let (&(tag, size), &class) = self.accesses.get_index(at).expect("an access's place");
        let access = Access::from(tag);
        (size.map_or(access, |size| access.with_size(size)), class)
    }

    /// Adds to the index `vicinity` the accesses that it lacks. Makes a new index for a new oracle.
    fn list<G: Borrow<Graph>>(&mut self, oracle: &Oracle<G>) {
        if !self.vicinity.0.is_of(oracle) {
            self.vicinity = (Vicinity::new(oracle), 0);
        }
        let all = self.accesses.len();
        for place in std::mem::replace(&mut self.vicinity.1, all)..all {
            let (access, _) = self.access(place);
            self.vicinity.0.add(oracle, access, place as u32);
        }
    }

    /// Returns the name of the classes' domain, which is the second operand of each scope.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the number of an access's class, or `None` if the access was not added.
    pub fn of(&self, access: impl Into<Access>) -> Option<u32> {
        let access = access.into();
        self.accesses.get(&(access.tag?, access.size)).copied()
    }

    /// Returns the name of an access's scope, or `None` if the access was not added.
    pub fn scope(&self, access: impl Into<Access>) -> Option<&str> {
        Some(self.name(self.of(access)?))
    }

    /// Returns the name of a class's scope, which is the scope's first operand.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn name(&self, class: u32) -> &str {
        &self.names[class as usize]
    }

    /// Returns the scopes of an instruction that makes only these accesses, with the rows of their
    /// classes, or `None` if the list is empty or an access was not added.
    pub fn names(&self, accesses: &[Access]) -> Option<ScopeNames<'_>> {
        let classes = accesses.iter().map(|&access| self.of(access));
        let mut classes: Vec<u32> = classes.collect::<Option<_>>()?;
        classes.sort_unstable();
        classes.dedup();
        (!classes.is_empty()).then(|| ScopeNames {
            domain: &self.domain,
            own: classes.iter().map(|&class| self.name(class)).collect(),
            noalias: Vec::new(),
            rows: classes.iter().map(|&class| self.row(class)).collect(),
        })
    }

    /// Returns the rows of all classes as text for the plugin. `!tbaa.relations` lists a node whose
    /// operands are the domain's name and the rows. A row is the number of a class, then the lower
    /// numbers of the classes that it may alias. A class without a row may alias every class.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        (0..self.rows.len() as u32).map(|class| self.row(class))
    }

    /// Returns the row of a class, as [`AccessClasses::rows`] does.
    ///
    /// # Panics
    ///
    /// If there is no such class.
    pub fn row(&self, class: u32) -> String {
        let mut text = class.to_string();
        for other in &self.rows[class as usize] {
            text.push(' ');
            text += &other.to_string();
        }
        text
    }
}
