//! The place of an access to shared memory, which every module must compute in the same way.
//!
//! In open lowering, several modules may tag one place: clang's, and those of any number of
//! lineages that know nothing of each other. LLVM answers `NoAlias` for two accesses unless one's
//! node is above the other's. So each module must choose comparable nodes for places that may
//! alias, although each knows different records.
//!
//! *Theorem.* A *leaf* of an access is a scalar type that the access's base type has at the
//! accessed bytes. Two accesses of scalars that may alias have a leaf in common, or one is whole
//! and its type is above the other's. So they are comparable if each is placed at the nearest
//! common node of its leaves' nodes, or above it. An access with a single path to its only leaf may
//! be placed at clang's own cursor below the leaf's node: all others that may alias it reach this
//! cursor, or are placed at the leaf's node or above. Leaves follow from the declaration alone.
//! Other knowledge of a module may move an access up, never down: private memory, and *odd* fixed
//! tags, which are not at or below their leaves' node. (clang tags an `_Atomic int` in a struct as
//! `char`.)
//!
//! The theorem requires that every accessed byte belongs to a scalar. A whole struct, and an access
//! wider than its scalar, may meet others in padding, or past their base type. They get no tag.

use super::forest::Forest;
use super::source::Key;
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Field, Graph, Size, TagId, TypeId, TypeKind};

/// The most types that are visited to find an access's leaves.
const MAX_TYPES: usize = 4096;

/// The facts about the sources' types that the fixed tags determine.
#[derive(Debug, Default)]
pub(super) struct Skeleton {
    /// The node of accesses of which only the scalar type is known; `None` if there are several
    /// without a common one.
    scalars: HashMap<TypeId, Option<u32>>,
    /// The same for each source with a fixed tag.
    cursors: HashMap<TagId, Option<u32>>,
    /// For each fixed tag, true if it is odd.
    pub(super) odd: Vec<bool>,
    /// Top nodes without a fixed tag. They may alias everything.
    pub(super) tops: Vec<u32>,
}

/// The types of a place's bytes, in a base type.
struct Leaves {
    types: HashSet<TypeId>,
    /// True if several fields of one type have some of the bytes.
    split: bool,
}

impl Skeleton {
    /// Derives the facts from fixed tags, which are at the nodes of a forest.
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

    /// Returns whether a source has a fixed tag.
    pub(super) fn has(&self, key: Key) -> bool {
        self.cursors.contains_key(&key.tag)
    }

    /// Returns the lowest node at which a source may be placed; `None` if it must be untagged.
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

    /// The node of a scalar type, or of the nearest above it that others know.
    fn scalar(&self, graph: &Graph, leaf: TypeId) -> Option<u32> {
        let up = std::iter::successors(Some(leaf), |&ty| graph.ty(ty).parent());
        *up.take(MAX_TYPES).find_map(|ty| self.scalars.get(&ty))?
    }
}

impl Leaves {
    /// Finds the leaves of an access; `None` if it is not one of a scalar, or they are not known.
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
            // Without sizes, the access ends where the next field begins.
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

    /// Adds the fields of an aggregate that have some of the bytes, or all fields, to the types to
    /// visit.
    fn step(
        &mut self,
        graph: &Graph,
        ty: TypeId,
        bytes: Option<(u64, u64)>,
        work: &mut Vec<(TypeId, Option<(u64, u64)>)>,
    ) {
        let size = |ty| graph.ty(ty).size();
        // A field of an empty type has no byte.
        let fields = graph.ty(ty).fields();
        let fields: Vec<_> =
            fields.filter(|field| field.extent != Some(0) || size(field.ty) != Some(0)).collect();
        let sized = fields.iter().all(|field| field.extent.is_some());
        let plain = fields.windows(2).all(|two| two[0].offset < two[1].offset);
        // The end of each field. A field of no bytes is a flexible array.
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
        // Elements of an array, even deep inside, may meet everything next to them.
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

/// Returns whether a type has an array anywhere inside.
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
