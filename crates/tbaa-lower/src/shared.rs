//! The records that other code accesses by name, and those whose memory only our code accesses.

use tbaa::declare::{DeclId, Declarations};
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Graph, TagId};

/// The records that code compiled by clang accesses, for mixed lowering: the named ones, and all
/// inside them.
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
    /// The shared records, and all that one of them is inside.
    touched: HashSet<DeclId>,
}

impl<'t> Shared<'t> {
    /// Returns the shared records: `named`, and all records inside them. Their pointees are not
    /// shared automatically: name these too, if the other side follows the pointers.
    ///
    /// # Panics
    ///
    /// If other declarations issued one of `named`.
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

    /// Returns whether the other side accesses a record by name.
    #[must_use]
    pub fn has(&self, record: DeclId) -> bool {
        self.shared.contains(&record)
    }

    /// Returns a tag of declared types as a source. It is private if it starts from a record that
    /// is not shared, is inside no shared one, and contains none.
    ///
    /// A tag of a scalar or a pointer is not private: it may access any memory.
    #[must_use]
    pub fn source(&self, graph: &Graph, tag: TagId) -> super::Source {
        let source = super::Source::from(tag);
        let base = graph.tag(tag).ok().and_then(|tag| graph.ty(tag.base).name());
        let base = base.and_then(|name| self.types.named(std::str::from_utf8(name).ok()?));
        let private =
            base.is_some_and(|base| self.types.is_record(base) && !self.touched.contains(&base));
        if private { source.private() } else { source }
    }
}

/// Some records, and all that `next` leads to from them.
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
