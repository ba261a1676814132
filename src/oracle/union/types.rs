//! The types of a graph, read once into the form that the search wants.

use super::flood::elements;
use super::stride::{UNBOUNDED, span};
use crate::graph::{Format, Graph, NodeId, Shape, TypeId, TypeKind};
use crate::oracle::forest::Forest;

/// Position of a type in [`Types`].
pub(crate) type TypeIndex = u32;

const NONE: u32 = u32::MAX;

/// A field, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) ty: TypeIndex,
    pub(crate) offset: u64,
    /// 0 in the old format, which does not say.
    pub(crate) extent: u64,
}

/// A type. In the old format a scalar has its parent as its one field, at
/// offset 0: nothing tells such a scalar from a struct with one field, and a
/// path that ends at a scalar ends at the scalar's ancestors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub(crate) id: TypeId,
    /// `None` for a root.
    pub(crate) format: Option<Format>,
    /// Whether the node is a scalar; in the old format only these have parents.
    pub(crate) scalar: bool,
    /// 0 in the old format, which does not say.
    pub(crate) size: u64,
    /// Whether two fields stand at one offset.
    pub(crate) overlapping: bool,
    /// Whether a field is a flexible array.
    pub(crate) flexible: bool,
    /// Whether this node and all below and above it are well formed, of one
    /// format, and do not contain themselves.
    pub(crate) sound: bool,
    /// A type's fields and parent have lower ranks than the type.
    pub(crate) rank: u32,
    /// The root above a sound type.
    pub(crate) root: TypeIndex,
    /// Past the last byte at which an object inside the type, or the type seen
    /// as one of its ancestors, may end; in the old format, the last offset at
    /// which one may start.
    pub(crate) far: u128,
    /// Whether what the type directly holds lies apart, field by field, so that
    /// one way leads to each byte; whether a scalar has nothing but scalars
    /// above it.
    pub(crate) plain: bool,
    /// Whether an array lies in the type.
    pub(crate) arrays: bool,
    parent: u32,
    first: u32,
    end: u32,
}

/// Every type of a graph.
#[derive(Clone, Default, Debug)]
pub(crate) struct Types {
    types: Vec<Type>,
    fields: Vec<Field>,
    /// By node index; `NONE` for nodes that are no types.
    by_node: Vec<u32>,
    /// The tree of parents.
    tree: Forest,
    /// Each type's node in the tree.
    places: Vec<u32>,
    /// The first rank not taken.
    free_rank: u32,
}

impl Types {
    /// Adds the types that the graph got since the last call.
    pub(crate) fn extend(&mut self, graph: &Graph) {
        let from = self.types.len();
        let added = || graph.types_since(from);
        if added().len() == 0 {
            return;
        }
        self.by_node.resize(graph.node_count(), NONE);
        for (index, ty) in added().enumerate() {
            self.by_node[ty.node().index()] = (from + index) as u32;
        }
        for ty in added() {
            let read = self.read(graph, ty);
            self.types.push(read);
        }
        self.judge(from as u32);
        self.plant(from as u32);
    }

    pub(crate) fn index(&self, ty: TypeId) -> Option<TypeIndex> {
        self.by_node.get(ty.node().index()).copied().filter(|&index| index != NONE)
    }

    pub(crate) fn get(&self, ty: TypeIndex) -> &Type {
        &self.types[ty as usize]
    }

    pub(crate) fn fields(&self, ty: TypeIndex) -> &[Field] {
        let ty = self.get(ty);
        &self.fields[ty.first as usize..ty.end as usize]
    }

    /// Returns the parent; in the old format only scalars have one.
    pub(crate) fn parent(&self, ty: TypeIndex) -> Option<TypeIndex> {
        let parent = self.get(ty).parent;
        (parent != NONE).then_some(parent)
    }

    /// Returns a sound type, its parent, its parent's parent and so on.
    pub(crate) fn ancestors(&self, ty: TypeIndex) -> impl Iterator<Item = TypeIndex> + '_ {
        std::iter::successors(Some(ty), |&ty| self.parent(ty))
    }

    /// Returns whether sound type `upper` is among the ancestors of sound type
    /// `ty`, which are `ty` itself and all above it.
    pub(crate) fn is_ancestor(&self, upper: TypeIndex, ty: TypeIndex) -> bool {
        self.tree.is_ancestor(self.places[upper as usize], self.places[ty as usize])
    }

    fn read(&mut self, graph: &Graph, id: TypeId) -> Type {
        let node = graph.ty(id);
        let kind = node.kind();
        let first = self.fields.len() as u32;
        let old = node.format() == Format::Old;
        let index = |types: &Types, node: NodeId| types.by_node[node.index()];
        let parent = match kind {
            TypeKind::Root => None,
            TypeKind::Aggregate if old => None,
            _ => Shape::of(graph, id.node()).parent(graph, id.node()),
        };
        let parent = parent.map_or(NONE, |parent| index(self, parent));
        // A text may name a parent or field type before it is a type.
        let mut sound = kind != TypeKind::Malformed && (kind != TypeKind::Scalar || parent != NONE);
        let (mut overlapping, mut flexible) = (false, false);
        if kind == TypeKind::Scalar && old && parent != NONE {
            self.fields.push(Field { ty: parent, offset: 0, extent: 0 });
        } else if kind == TypeKind::Aggregate {
            let (mut previous, mut occupied) = (None, None);
            for field in node.fields() {
                // A class without data: clang's node for it is a name alone.
                let empty = old && graph.ty(field.ty).kind() == TypeKind::Root;
                let element = graph.ty(field.ty).size();
                flexible |= field.extent == Some(0) && element != Some(0);
                overlapping |= !empty && occupied == Some(field.offset);
                occupied = if empty { occupied } else { Some(field.offset) };
                let ty = index(self, field.ty.node());
                sound &= previous <= Some(field.offset) && ty != NONE;
                previous = Some(field.offset);
                self.fields.push(Field {
                    ty,
                    offset: field.offset,
                    extent: field.extent.unwrap_or(0),
                });
            }
        }
        Type {
            id,
            format: (kind != TypeKind::Root).then(|| node.format()),
            scalar: kind == TypeKind::Scalar,
            size: node.size().unwrap_or(0),
            overlapping,
            flexible,
            sound,
            rank: NONE,
            root: self.types.len() as u32,
            far: 0,
            plain: false,
            arrays: false,
            parent,
            first,
            end: self.fields.len() as u32,
        }
    }

    /// Sets the rank of each type from `from` on, and withdraws `sound` from
    /// those that reach a malformed node, another format, or themselves.
    fn judge(&mut self, from: u32) {
        const OPEN: u32 = NONE - 1;
        // Types whose fields are being looked at, and the next field of each.
        let mut open: Vec<(TypeIndex, usize)> = Vec::new();
        for start in from..self.types.len() as u32 {
            if self.get(start).rank != NONE {
                continue;
            }
            self.types[start as usize].rank = OPEN;
            open.push((start, 0));
            while let Some((ty, next)) = open.last_mut() {
                let (ty, position) = (*ty, *next);
                *next += 1;
                let fields = self.fields(ty);
                let (child, is_field) = match fields.get(position) {
                    Some(field) => (field.ty, !self.get(ty).scalar),
                    None if position == fields.len() => (self.get(ty).parent, false),
                    None => {
                        self.types[ty as usize].rank = self.free_rank;
                        self.free_rank += 1;
                        open.pop();
                        // What the type is part of is as unsound as the type.
                        if let Some(&(outer, _)) = open.last() {
                            self.types[outer as usize].sound &= self.get(ty).sound;
                        }
                        continue;
                    }
                };
                if child == NONE {
                    continue;
                }
                let of_child = *self.get(child);
                // A root has no format and is the type of no memory. In the
                // old format a class without data looks like one.
                let old = self.get(ty).format == Some(Format::Old);
                let fits = match of_child.format {
                    None => old || !is_field,
                    format => format == self.get(ty).format,
                };
                // An open child contains this very type.
                let closed = of_child.rank != OPEN;
                self.types[ty as usize].sound &= fits && closed;
                if of_child.rank == NONE {
                    self.types[child as usize].rank = OPEN;
                    open.push((child, 0));
                } else {
                    self.types[ty as usize].sound &= of_child.sound;
                }
            }
        }
    }

    /// Adds the types from `from` on to the tree of parents, and sets their
    /// roots.
    fn plant(&mut self, from: u32) {
        let mut order: Vec<TypeIndex> = (from..self.types.len() as u32).collect();
        // Parents and fields come first.
        order.sort_unstable_by_key(|&ty| self.get(ty).rank);
        self.places.resize(self.types.len(), NONE);
        for &ty in &order {
            // An unsound type may be its own ancestor, or have a field whose
            // type is unknown; nobody asks for those.
            if !self.get(ty).sound {
                self.places[ty as usize] = self.tree.push(None);
                continue;
            }
            let parent = self.parent(ty);
            // An old-format aggregate has its fields' root.
            let mut of_fields = self.fields(ty).iter().map(|field| field.ty);
            let above = parent.or_else(|| of_fields.find(|&ty| self.get(ty).format.is_some()));
            if let Some(above) = above {
                self.types[ty as usize].root = self.get(above).root;
            }
            let parent = parent.map(|parent| self.places[parent as usize]);
            self.places[ty as usize] = self.tree.push(parent);
            self.measure(ty);
        }
        self.tree.settle();
    }

    /// Finds out how a type's fields lie, theirs being known.
    fn measure(&mut self, ty: TypeIndex) {
        let of_type = *self.get(ty);
        let parent = self.parent(ty);
        let above = parent.map(|parent| self.get(parent));
        // An ancestor's objects may reach past the size it says.
        let tall = above.map_or(0, |above| above.far).max(of_type.size.into());
        let old = of_type.format != Some(Format::New);
        let (mut far, mut arrays) = (if old { 0 } else { tall }, false);
        let mut plain = true;
        if of_type.scalar {
            plain = above
                .is_some_and(|above| above.format.is_none() || above.scalar && above.plain)
                && (old || of_type.size != 0);
        } else if of_type.format.is_some() {
            plain = !of_type.overlapping && !of_type.flexible && (old || of_type.size != 0);
            let mut free = 0;
            for field in self.fields(ty) {
                let inside = self.get(field.ty);
                // A class without data holds no path.
                if inside.format.is_none() {
                    continue;
                }
                let start = u128::from(field.offset);
                let end = if old {
                    start + inside.far
                } else {
                    let array = elements(self, field, UNBOUNDED);
                    arrays |= array.is_some() || inside.arrays;
                    plain &= array.is_none_or(|_| inside.far <= inside.size.into());
                    let last = array.map_or(0, |array| span(&[array.stride]));
                    (start + last + inside.far).max(start + u128::from(field.extent))
                };
                plain &= free <= start;
                // LLVM's: the parent's objects hold no byte that an access of
                // the parent's type does not cover by itself.
                plain &= old || parent.is_some_and(|up| self.is_ancestor(up, field.ty));
                free = if old { end + 1 } else { end };
                far = far.max(end).min(UNBOUNDED);
            }
        }
        let known = &mut self.types[ty as usize];
        (known.far, known.plain, known.arrays) = (far, plain, arrays);
    }
}
