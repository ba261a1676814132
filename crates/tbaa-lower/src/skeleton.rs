//! The node of an access to shared memory, which every module must compute in the same way.
//!
//! Lowering replaces tags (its *sources*) by tags that LLVM interprets correctly. Several modules
//! may tag the same memory: clang's, whose tags are *fixed* (used unchanged), and those of
//! lowerings that do not know each other. An access's *node* is its tag's node in the type tree.
//! LLVM answers `NoAlias` for two accesses unless their nodes are *comparable*: equal, or one an
//! ancestor of the other. So modules must choose comparable nodes for accesses that may alias.
//!
//! *Theorem.* A *leaf* of an access is a scalar type that the access's base type has at the
//! accessed bytes. Two accesses to scalars that may alias have a common leaf, or one accesses a
//! whole object whose type is an ancestor of the other access's type. So two such accesses have
//! comparable nodes if each access's node is the nearest common ancestor of its leaves' nodes, or
//! above that ancestor. If a single path of fields leads to an access's only leaf, the access may
//! instead have clang's own node for this field, below the leaf's node: any access that may alias
//! it is to the same field, or has the leaf's node or an ancestor of that node.
//!
//! An access may have to move to an ancestor because it may alias private memory (which only one
//! module accesses), or an *odd* fixed tag: one whose node is neither the node that its leaves
//! determine nor below that node.
//!
//! The theorem requires that each accessed byte belongs to a scalar. An access to a whole struct,
//! or wider than its scalar, may also cover padding or bytes past the base type, and gets no tag.

use super::forest::Forest;
use super::source::Key;
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Field, Graph, Size, TagId, TypeId, TypeKind};

/// The largest number of types that one search visits.
const MAX_TYPES: usize = 4096;

/// The nodes that the fixed tags (clang's tags, used unchanged) determine for other tags.
#[derive(Debug, Default)]
pub(super) struct Skeleton {
    /// For each scalar type, the nearest common ancestor of the nodes of the fixed tags for sources
    /// whose base and access type is this type, or `None` without a common ancestor.
    scalars: HashMap<TypeId, Option<u32>>,
    /// For each source tag that has fixed tags, the nearest common ancestor of the fixed tags'
    /// nodes, or `None` without a common ancestor.
    cursors: HashMap<TagId, Option<u32>>,
    /// For each fixed tag, true if the tag is odd, as the head of this file defines.
    pub(super) odd: Vec<bool>,
    /// The parentless nodes without a fixed tag. Other modules may use such a node for any memory.
    pub(super) tops: Vec<u32>,
}

struct Leaves {
    types: HashSet<TypeId>,
    /// False if exactly one path of fields leads to the accessed bytes.
    split: bool,
}

impl Skeleton {
    /// Computes the nodes from fixed tags. `fixed` has each fixed tag's source and forest node.
    pub(super) fn new(graph: &Graph, forest: &Forest, fixed: &[(Key, u32)]) -> Skeleton {
        let mut skeleton = Skeleton::default();
        let is_top = |&node: &u32| forest.nodes[node as usize].above.is_none();
        skeleton.tops.extend((0..forest.nodes.len() as u32).filter(is_top));
        for &(key, node) in fixed {
            skeleton.tops.retain(|&top| top != node);
            let (Ok(tag), None) = (graph.tag(key.tag), key.size) else { continue };
            let join = |old: &mut Option<u32>| *old = old.and_then(|old| forest.common(old, node));
            skeleton.cursors.entry(key.tag).and_modify(join).or_insert(Some(node));
            if tag.is_whole() && graph.ty(tag.access).kind() == TypeKind::Scalar {
                skeleton.scalars.entry(tag.access).and_modify(join).or_insert(Some(node));
            }
        }
        let odd = |&(key, node): &(Key, u32)| {
            let found = skeleton.node(graph, forest, key);
            found.is_none_or(|found| !forest.is_above(found, node))
        };
        skeleton.odd = fixed.iter().map(odd).collect();
        skeleton
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.cursors.contains_key(&key.tag)
    }

    /// Returns the lowest allowed node for a source, or `None` if the access must be untagged.
    pub(super) fn node(&self, graph: &Graph, forest: &Forest, key: Key) -> Option<u32> {
        let leaves = Leaves::of(graph, key)?;
        let mut nodes = leaves.types.iter().map(|&leaf| self.scalar(graph, leaf));
        let mut node = nodes.next()??;
        for other in nodes {
            node = forest.common(node, other?)?;
        }
        match self.cursors.get(&key.tag) {
            Some(&Some(own)) if !leaves.split && forest.is_above(node, own) => Some(own),
            _ => Some(node),
        }
    }

    /// Returns the node of a scalar type, or of its nearest ancestor with a fixed tag.
    fn scalar(&self, graph: &Graph, leaf: TypeId) -> Option<u32> {
        let up = std::iter::successors(Some(leaf), |&ty| graph.ty(ty).parent());
        *up.take(MAX_TYPES).find_map(|ty| self.scalars.get(&ty))?
    }
}

impl Leaves {
    /// Returns an access's leaves, or `None` if they cannot be determined.
    fn of(graph: &Graph, key: Key) -> Option<Leaves> {
        let tag = graph.tag(key.tag).ok()?;
        if graph.ty(tag.access).kind() != TypeKind::Scalar {
            return None;
        }
        let scalar = graph.ty(tag.access).size();
        let size = match key.size.or(tag.size) {
            Some(Size::Bytes(size)) if size != 0 && scalar.is_some_and(|scalar| size <= scalar) => {
                size
            }
            Some(_) => return None,
            // Without sizes, each field ends where the next begins: the first byte is enough.
            None => 1,
        };
        let end = tag.offset.checked_add(size)?;
        if graph.ty(tag.base).size().is_some_and(|base| end > base) {
            return None;
        }
        let mut leaves = Leaves { types: HashSet::default(), split: false };
        let mut seen = HashSet::default();
        let mut work = vec![(tag.base, Some((tag.offset, end)))];
        while let Some((ty, bytes)) = work.pop() {
            if !seen.insert((ty, bytes)) {
                continue;
            }
            match graph.ty(ty).kind() {
                _ if seen.len() > MAX_TYPES => return None,
                TypeKind::Scalar => {
                    leaves.types.insert(ty);
                }
                TypeKind::Aggregate => leaves.step(graph, ty, bytes, &mut work),
                _ => return None,
            }
        }
        Some(leaves)
    }

    /// Adds to `work` the types of the fields of `ty` that may contain some of `bytes`.
    fn step(
        &mut self,
        graph: &Graph,
        ty: TypeId,
        bytes: Option<(u64, u64)>,
        work: &mut Vec<(TypeId, Option<(u64, u64)>)>,
    ) {
        let size = |ty| graph.ty(ty).size();
        // A field of an empty type contains no byte.
        let fields = graph.ty(ty).fields();
        let fields: Vec<_> =
            fields.filter(|field| field.extent != Some(0) || size(field.ty) != Some(0)).collect();
        let sized = fields.iter().all(|field| field.extent.is_some());
        let plain = fields.windows(2).all(|two| two[0].offset < two[1].offset);
        // The end of each field. A field of size 0 is a flexible array.
        let ends: Vec<u64> = (0..fields.len())
            .map(|at| match (fields[at].extent, fields.get(at + 1)) {
                (Some(0), _) => u64::MAX,
                (Some(extent), _) => fields[at].offset.saturating_add(extent),
                (None, Some(next)) if plain => next.offset,
                (None, _) => u64::MAX,
            })
            .collect();
        let meet = |at: usize, (from, to): (u64, u64)| fields[at].offset < to && from < ends[at];
        let is_array = |at: usize| {
            let (extent, size) = (fields[at].extent, size(fields[at].ty));
            extent == Some(0) || extent.zip(size).is_some_and(|(extent, size)| extent > size)
        };
        let all = 0..fields.len();
        let hit: Vec<usize> = match bytes {
            Some(bytes) => all.clone().filter(|&at| meet(at, bytes)).collect(),
            None => all.clone().collect(),
        };
        if let (&[at], Some((from, to))) = (&hit[..], bytes) {
            let field = fields[at];
            let beside = |other| other != at && meet(other, (field.offset, ends[at]));
            let alone = !all.clone().any(beside) || !(is_array(at) || has_array(graph, field.ty));
            let (mut from, mut to) = (from.saturating_sub(field.offset), to - field.offset);
            let element = size(field.ty).filter(|_| is_array(at));
            if let Some(size) = element.filter(|&size| size > 0) {
                (from, to) = (from % size, from % size + (to - from));
            }
            if alone && element.is_none_or(|size| to <= size) {
                work.push((field.ty, Some((from, to))));
                return;
            }
        }
        self.split |= bytes.is_some();
        // An element of an array, at any depth, may overlap any other field.
        let elements = |&at: &usize| is_array(at) || has_array(graph, fields[at].ty);
        let any = !sized || bytes.is_none() || hit.iter().any(elements);
        for at in if any { all.collect() } else { hit } {
            let field = fields[at];
            let inside = |(from, to): (u64, u64)| {
                (from.saturating_sub(field.offset), to.saturating_sub(field.offset))
            };
            work.push((field.ty, bytes.filter(|_| !any).map(inside)));
        }
    }
}

/// Returns whether a type contains an array at any depth, or too many types to know.
fn has_array(graph: &Graph, ty: TypeId) -> bool {
    let (mut seen, mut work) = (HashSet::default(), vec![ty]);
    while let Some(ty) = work.pop() {
        if seen.insert(ty) && graph.ty(ty).kind() == TypeKind::Aggregate {
            let fields = graph.ty(ty).fields();
            let is_array = |field: &Field| field.extent != graph.ty(field.ty).size();
            if seen.len() > MAX_TYPES || fields.clone().any(|field| is_array(&field)) {
                return true;
            }
            work.extend(fields.map(|field| field.ty));
        }
    }
    false
}
