//! The records (structs, unions) that C code accesses too, and those that only this program does.

use tbaa::declare::{DeclId, Declarations};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Graph, TagId};

/// The records that C code, compiled by clang, also accesses: those passed to [`Shared::new`], and
/// all records inside them.
///
/// ```
/// use tbaa::Graph;
/// use tbaa::declare::{Declarations, Policy, Record, Target};
/// use tbaa_lower::{Lowering, Options, Shared, Source, tags_of_clang};
/// use tbaa::{Oracle, AliasRule};
///
/// let mut types = Declarations::new(Target::x86_64());
/// let value = types.define(Record::structure("Value").field("n", "int"))?;
/// let args = types.define(Record::structure("Args").field("first", "Value"))?;
/// types.define(Record::structure("Frame").field("size", "int"))?;
///
/// let shared = Shared::new(&types, [args]);
/// assert!(shared.has(value), "it is inside `Args`");
///
/// let mut graph = Graph::new();
/// let (theirs, pairs) = tags_of_clang(&types, &mut graph, |record| shared.has(record))?;
/// let mut rfc = types.clone().into_tagged(Policy::Rfc);
/// let sources = ["Value.n", "Frame.size"].map(|path| rfc.tag(&mut graph, path).unwrap());
/// let sources = sources.map(|tag| shared.source(&graph, tag));
/// assert_eq!(sources.map(|source| source.private), [false, true]);
///
/// let oracle = Oracle::new(&graph, AliasRule::Union);
/// let mut lowering = Lowering::new(Options::new());
/// lowering.fix(&oracle, theirs, pairs)?;
/// lowering.lower(&oracle, sources)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shared<'t> {
    types: &'t Declarations,
    shared: HashSet<DeclId>,
    /// The shared records, and all records that contain one.
    touched: HashSet<DeclId>,
}

impl<'t> Shared<'t> {
    /// Returns the set of shared records: those in `named`, and all records inside them. Records
    /// that they point to are not included. Name these too if the C code follows the pointers.
    ///
    /// # Panics
    ///
    /// All of `named` must be from `types`; otherwise this may panic or return a wrong set.
    #[must_use]
    pub fn new(types: &'t Declarations, named: impl IntoIterator<Item = DeclId>) -> Self {
        let mut inside: HashMap<DeclId, Vec<DeclId>> = HashMap::default();
        let mut around: HashMap<DeclId, Vec<DeclId>> = HashMap::default();
        for record in types.types().filter(|&ty| types.is_record(ty)) {
            for member in types.members(record) {
                let (element, _) = types.array_parts(member.ty);
                if types.is_record(element) {
                    inside.entry(record).or_default().push(element);
                    around.entry(element).or_default().push(record);
                }
            }
        }
        let shared = reach(named, &inside);
        let touched = reach(shared.iter().copied(), &around);
        Shared { types, shared, touched }
    }

    /// Returns whether C code accesses a record.
    pub fn has(&self, record: DeclId) -> bool {
        self.shared.contains(&record)
    }

    /// Returns a tag as a source (an access to be lowered). The source is
    /// [private](super::Source::private) if the tag's base type is a declared record that is not
    /// shared and contains no shared record. A tag for a scalar or pointer alone is not private:
    /// such an access may be to any memory.
    pub fn source(&self, graph: &Graph, tag: TagId) -> super::Source {
        let source = super::Source::from(tag);
        let base = graph.tag(tag).ok().and_then(|tag| graph.ty(tag.base).name());
        let base = base.and_then(|name| self.types.named(std::str::from_utf8(name).ok()?));
        let private =
            base.is_some_and(|base| self.types.is_record(base) && !self.touched.contains(&base));
        if private { source.private() } else { source }
    }
}

/// Returns the records in `from`, and all that are reachable through `next`.
fn reach(
    from: impl IntoIterator<Item = DeclId>,
    next: &HashMap<DeclId, Vec<DeclId>>,
) -> HashSet<DeclId> {
    let mut found = HashSet::default();
    let mut work: Vec<DeclId> = from.into_iter().collect();
    while let Some(record) = work.pop() {
        if found.insert(record) {
            work.extend(next.get(&record).into_iter().flatten());
        }
    }
    found
}
