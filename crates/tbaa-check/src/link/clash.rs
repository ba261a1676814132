//! Name clashes (several types with one name), and alias answers that allow for them.

use super::summary::Summary;
use tbaa::parts::table::{HashMap, HashSet, IndexMap};
use tbaa::{
    Access, AliasResult, AliasRule, Format, Graph, NodeId, Oracle, TagId, TypeId, TypeKind,
};

/// A name that several types under one root have.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Clash {
    /// The root.
    pub root: TypeId,
    /// The name's bytes.
    pub name: Vec<u8>,
    /// The types, in the order of the merged graph.
    pub bodies: Vec<LinkedType>,
}

/// One of the types of a [`Clash`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LinkedType {
    /// The type in the merged graph.
    pub ty: TypeId,
    /// The module that has the type; the first by name if there are several.
    pub module: String,
    /// The sorted indices of all modules that have the type as a scalar; empty for other types.
    scalar_of: Vec<u32>,
}

/// Returns whether two types with one name, given their `scalar_of`, may be meant as one type. Two
/// scalars of one module may not: its front end distinguishes them by their parents.
fn may_be_one(a: &[u32], b: &[u32]) -> bool {
    !a.iter().any(|module| b.binary_search(module).is_ok())
}

fn are_scalars_of_one(bodies: &[LinkedType]) -> bool {
    let has_all =
        |module: &u32| bodies.iter().all(|body| body.scalar_of.binary_search(module).is_ok());
    bodies.first().is_some_and(|first| first.scalar_of.iter().any(has_all))
}

/// Finds the clashes. Types of one name do not clash if one module has all of them as scalars.
pub(super) fn find(summary: &Summary, graph: &Graph, ids: &[NodeId]) -> Vec<Clash> {
    let mut named: IndexMap<(TypeId, &[u8]), Vec<LinkedType>> = IndexMap::default();
    for (&id, (_, facts)) in ids.iter().zip(&summary.nodes) {
        let Some(ty) = graph.type_of(id) else { continue };
        let node = graph.ty(ty);
        // An empty name is not a name: C's unnamed structs are all called "".
        let name = node.name().filter(|name| !name.is_empty());
        let Some((name, root)) = name.zip(graph.root_of(ty)) else { continue };
        if node.kind() != TypeKind::Root {
            let module = summary.modules[facts.module as usize].clone();
            let scalar_of = facts.scalar_of.clone();
            named.entry((root, name)).or_default().push(LinkedType { ty, module, scalar_of });
        }
    }
    named.retain(|_, bodies| bodies.len() > 1 && !are_scalars_of_one(bodies));
    let clash =
        |((root, name), bodies): ((_, &[u8]), _)| Clash { root, name: name.to_vec(), bodies };
    let mut clashes: Vec<Clash> = named.into_iter().map(clash).collect();
    clashes.sort_by(|a, b| (&a.name, a.root).cmp(&(&b.name, b.root)));
    clashes
}

/// The largest number of types with clashing names in one [`Through`]. An access that goes through
/// more counts as going through all.
const MOST: usize = 64;
/// The largest number of types that are visited for one access. An access that needs more counts
/// as going through all.
const STEPS: usize = 4096;

/// The types with clashing names that an access goes through (see [`LinkedOracle`]), each with the
/// index of its clash. `None` if the access counts as going through all.
type Through = Option<Vec<(u32, TypeId)>>;

/// Answers alias queries on linked modules.
///
/// Two accesses that go through different types of one name may alias, unless the types are scalars
/// of the same module. An access goes through its base type, the types on the path to the accessed
/// type, the accessed type, all types in the accessed type, and the ancestors of all these types.
#[derive(Debug)]
pub struct LinkedOracle<'l> {
    oracle: Oracle<&'l Graph>,
    /// For each tag, an index into `through`; 0 if its accesses go through no clashing type.
    of_tag: Vec<u32>,
    through: Vec<Through>,
    /// For each scalar with a clashing name, the sorted indices of the modules that have it.
    scalars: HashMap<TypeId, Vec<u32>>,
}

impl<'l> LinkedOracle<'l> {
    pub(super) fn new(graph: &'l Graph, clashes: &[Clash], rule: AliasRule) -> Self {
        let mut clash_of: HashMap<TypeId, u32> = HashMap::default();
        let mut scalars = HashMap::default();
        for (number, clash) in clashes.iter().enumerate() {
            clash_of.extend(clash.bodies.iter().map(|body| (body.ty, number as u32)));
            let of_scalars = clash.bodies.iter().filter(|body| !body.scalar_of.is_empty());
            scalars.extend(of_scalars.map(|body| (body.ty, body.scalar_of.clone())));
        }
        let mut of_tag = vec![0; graph.tag_count()];
        let mut through = vec![Some(Vec::new())];
        if !clash_of.is_empty() {
            for tag in graph.tags() {
                let found = bodies(graph, &clash_of, tag);
                if found != through[0] {
                    of_tag[tag.index()] = through.len() as u32;
                    through.push(found);
                }
            }
        }
        LinkedOracle { oracle: Oracle::new(graph, rule), of_tag, through, scalars }
    }

    /// Returns whether two accesses may touch a common byte. An untagged access may touch any byte.
    pub fn alias(&self, a: impl Into<Access>, b: impl Into<Access>) -> AliasResult {
        let (a, b) = (a.into(), b.into());
        if let (Some(x), Some(y)) = (a.tag, b.tag)
            && self.clash(x, y)
        {
            return AliasResult::MayAlias;
        }
        self.oracle.alias(a, b)
    }

    /// Returns whether accesses with these tags may alias because of a clash, even if the merged
    /// graph answers `NoAlias`.
    pub fn clash(&self, a: TagId, b: TagId) -> bool {
        let graph = self.oracle.graph();
        let through = |tag| {
            let at = graph.owns_tag(tag).then(|| self.of_tag[tag.index()] as usize)?;
            (at != 0).then(|| &self.through[at])
        };
        match (through(a), through(b)) {
            (Some(Some(a)), Some(Some(b))) => self.differ(a, b),
            (a, b) => a.is_some() && b.is_some(),
        }
    }

    /// Returns whether different types of one clash, one from each sorted list, may be one type.
    fn differ(&self, a: &[(u32, TypeId)], b: &[(u32, TypeId)]) -> bool {
        let of_clash = |a: &(u32, TypeId), b: &(u32, TypeId)| a.0 == b.0;
        let mut others = b.chunk_by(of_clash).peekable();
        for ours in a.chunk_by(of_clash) {
            while others.next_if(|others| others[0].0 < ours[0].0).is_some() {}
            let Some(others) = others.next_if(|others| others[0].0 == ours[0].0) else { continue };
            let mut pairs = ours.iter().flat_map(|a| others.iter().map(move |b| (a.1, b.1)));
            let modules = |ty: TypeId| self.scalars.get(&ty).map_or(&[][..], Vec::as_slice);
            if pairs.any(|(a, b)| a != b && may_be_one(modules(a), modules(b))) {
                return true;
            }
        }
        false
    }

    /// Returns whether a tag of the merged graph goes through no type whose name clashes.
    ///
    /// An optimizer that does not know of clashes can safely use the merged graph if it drops all
    /// tags for which this is false.
    pub fn is_clear(&self, tag: TagId) -> bool {
        self.oracle.graph().owns_tag(tag) && self.of_tag[tag.index()] == 0
    }

    /// Returns the oracle of the merged graph, which ignores clashes.
    pub fn merged(&self) -> &Oracle<&'l Graph> {
        &self.oracle
    }
}

fn bodies(graph: &Graph, clash_of: &HashMap<TypeId, u32>, tag: TagId) -> Through {
    let Ok(parts) = graph.tag(tag) else { return Some(Vec::new()) };
    let mut found: HashSet<(u32, TypeId)> = HashSet::default();
    let mut seen: HashSet<(TypeId, Part)> = HashSet::default();
    // Start at the whole accessed type, and at the base type with the accessed offset.
    let mut work = vec![(parts.access, Part::Whole), (parts.base, Part::At(parts.offset))];
    while let Some((ty, place)) = work.pop() {
        if !seen.insert((ty, place)) {
            continue;
        }
        if seen.len() > STEPS || found.len() > MOST {
            return None;
        }
        found.extend(clash_of.get(&ty).map(|&clash| (clash, ty)));
        let node = graph.ty(ty);
        let is_aggregate = node.kind() == TypeKind::Aggregate;
        // An old-format aggregate has no parent: `parent` returns its first field's type.
        if !is_aggregate || node.format() == Format::New {
            work.extend(node.parent().map(|parent| (parent, Part::Above)));
        }
        if is_aggregate {
            descend(graph, ty, place, &mut work);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    Some(found)
}

/// The part of a type that is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Whole,
    /// The bytes from this offset on.
    At(u64),
    /// Nothing of this type: only a type below it in the tree is accessed.
    Above,
}

fn descend(graph: &Graph, ty: TypeId, place: Part, work: &mut Vec<(TypeId, Part)>) {
    let node = graph.ty(ty);
    let offset = match place {
        Part::Above => return,
        Part::Whole => {
            work.extend(node.fields().map(|field| (field.ty, Part::Whole)));
            return;
        }
        Part::At(offset) => offset,
    };
    let before = || node.fields().filter(|field| field.offset <= offset);
    let overlapping = node.fields().zip(node.fields().skip(1)).any(|(a, b)| a.offset == b.offset);
    let last = before().map(|field| field.offset).max();
    for field in before() {
        let into = offset - field.offset;
        let inside = match field.extent {
            Some(extent) => extent == 0 || into < extent,
            None => overlapping || Some(field.offset) == last,
        };
        if inside {
            // If the field is an array, the new offset is relative to one element.
            let size = graph.ty(field.ty).size().filter(|&size| size > 0);
            work.push((field.ty, Part::At(size.map_or(into, |size| into % size))));
        }
    }
}
