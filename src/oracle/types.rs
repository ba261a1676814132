//! The types of a graph, converted once into the form that the search uses.

use std::ops::Range;

use crate::extent::UNBOUNDED;
use crate::forest::Forest;
use crate::graph::{Format, Graph, TypeId, TypeKind};
use crate::table::{HashSet, IndexSet};
use crate::type_set::TypeSet;

/// Position of a type in [`Types`].
pub(super) type TypeIndex = u32;

const NONE: u32 = u32::MAX;

/// The elements of an array: `0..=last`, each `step` bytes after the previous one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Stride {
    pub(super) step: u128,
    pub(super) last: u128,
}

/// Returns the distance in bytes from the first element of all to the last.
pub(super) fn span(strides: &[Stride]) -> u128 {
    strides.iter().map(|stride| stride.step * stride.last).sum()
}

/// A field, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) ty: TypeIndex,
    pub(super) offset: u64,
    /// The size in bytes; 0 in the old format, which does not record it.
    pub(super) extent: u64,
    /// True if no other field overlaps this one's slot, and everything inside it stays in the slot:
    /// only one path leads to each of its bytes.
    pub(super) clear: bool,
}

/// A type. In the old format a scalar has its parent as its only field, at offset 0: such a scalar
/// looks like a struct with one field, and a path that ends at a scalar also ends at its ancestors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    /// The index of its node.
    pub(super) node: u32,
    /// `None` for a root.
    pub(super) format: Option<Format>,
    /// True if the node is a scalar; in the old format only these have parents.
    pub(super) scalar: bool,
    /// The size in bytes; 0 in the old format, which does not record it.
    pub(super) size: u64,
    /// True if two fields begin at one offset.
    pub(super) overlapping: bool,
    /// True if a field is a flexible array.
    pub(super) flexible: bool,
    /// True if this node and all below and above it are well formed, of one format, and not
    /// recursive.
    pub(super) sound: bool,
    /// A type's fields and parent have lower ranks than the type.
    pub(super) rank: u32,
    /// The root above a sound type.
    pub(super) root: TypeIndex,
    /// The end of the type, in bytes from its start: the largest of its size, the ends of its
    /// fields and of what is inside them, and the end of its parent, because a pointer to the
    /// parent may point to the type. [`UNBOUNDED`] if it contains a flexible array. In the old
    /// format, which has no sizes, the last offset at which an object inside the type may start.
    pub(super) far: u128,
    /// True if the contents of a field or array element, in this type or inside it, extend past the
    /// field's declared bytes.
    pub(super) crooked: bool,
    /// True if the type contains an array.
    pub(super) arrays: bool,
    parent: u32,
    first: u32,
    end: u32,
}

/// A summary of the types inside a type.
#[derive(Clone, Copy, Default, Debug)]
struct Held {
    /// The type itself, the types inside it, and those above all of these.
    inside: TypeSet,
    rank: u32,
    scalar: bool,
}

/// Every type of a graph.
#[derive(Clone, Default, Debug)]
pub(super) struct Types {
    types: Vec<Type>,
    /// The summary of each sound type.
    held: Vec<Held>,
    fields: Vec<Field>,
    /// The type of each node by index; `NONE` for nodes that are not types.
    by_node: Vec<u32>,
    /// The tree of parents.
    tree: Forest,
    /// Each type's node in the tree.
    places: Vec<u32>,
    /// The lowest free rank.
    free_rank: u32,
    /// True if only [`Types::may_hold`] is used.
    pub(super) brief: bool,
}

impl Types {
    /// Adds the types that the graph got since the last call.
    pub(super) fn extend(&mut self, graph: &Graph) {
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
        self.held.resize(self.types.len(), Held::default());
        self.judge(from as u32);
        self.add_to_tree(from as u32);
    }

    pub(super) fn index(&self, ty: TypeId) -> Option<TypeIndex> {
        self.at_node(ty.node().index)
    }

    /// Returns the type of a node, given by its index.
    pub(super) fn at_node(&self, node: u32) -> Option<TypeIndex> {
        self.by_node.get(node as usize).copied().filter(|&index| index != NONE)
    }

    pub(super) fn get(&self, ty: TypeIndex) -> &Type {
        &self.types[ty as usize]
    }

    pub(super) fn fields(&self, ty: TypeIndex) -> &[Field] {
        let ty = self.get(ty);
        &self.fields[ty.first as usize..ty.end as usize]
    }

    /// Returns the index of the last field of an aggregate that does not start after an offset: the
    /// walk continues there. A class without data contains no path.
    pub(super) fn field_at(&self, ty: TypeIndex, offset: u64) -> Option<usize> {
        let fields = self.fields(ty);
        let started = fields.partition_point(|field| field.offset <= offset);
        fields[..started].iter().rposition(|field| self.get(field.ty).format.is_some())
    }

    /// Returns the parent; in the old format only scalars have one.
    pub(super) fn parent(&self, ty: TypeIndex) -> Option<TypeIndex> {
        let parent = self.get(ty).parent;
        (parent != NONE).then_some(parent)
    }

    /// Returns a sound type, its parent, its parent's parent and so on.
    pub(super) fn ancestors(&self, ty: TypeIndex) -> impl Iterator<Item = TypeIndex> + '_ {
        std::iter::successors(Some(ty), |&ty| self.parent(ty))
    }

    /// Returns whether sound type `upper` is among the ancestors of sound type
    /// `ty`, which are `ty` itself and all above it.
    pub(super) fn is_ancestor(&self, upper: TypeIndex, ty: TypeIndex) -> bool {
        self.tree.is_ancestor(self.places[upper as usize], self.places[ty as usize])
    }

    /// Returns whether an object of a type, or one accessed as that type, may lie inside another
    /// type; both are sound.
    #[inline]
    pub(super) fn may_hold(&self, ty: TypeIndex, object: TypeIndex) -> bool {
        let (outer, inner) = (&self.held[ty as usize], &self.held[object as usize]);
        // A type inside another has a lower rank. All types above an old-format scalar are scalars.
        outer.rank >= inner.rank
            && outer.inside.may_have(object)
            && (!outer.scalar || self.is_ancestor(object, ty))
    }

    /// Returns whether a type contains another as a field, at any depth.
    pub(super) fn holds(&self, ty: TypeIndex, wanted: TypeIndex) -> bool {
        let mut open = vec![ty];
        let mut seen = HashSet::default();
        while let Some(ty) = open.pop() {
            for field in self.fields(ty) {
                if field.ty == wanted {
                    return true;
                }
                if self.may_hold(field.ty, wanted) && seen.insert(field.ty) {
                    open.push(field.ty);
                }
            }
        }
        false
    }

    /// Returns whether neither of two types may contain an object of the other.
    #[inline]
    pub(super) fn are_apart(&self, x: TypeIndex, y: TypeIndex) -> bool {
        // Only the type of the higher rank may contain the other. The branch would be
        // unpredictable, so there is none.
        let lower = self.held[x as usize].rank < self.held[y as usize].rank;
        let pair = [x, y];
        let (outer, inner) = (pair[usize::from(lower)], pair[usize::from(!lower)]);
        let holder = &self.held[outer as usize];
        !holder.inside.may_have(inner) || holder.scalar && !self.is_ancestor(inner, outer)
    }

    /// Returns the type itself, the types inside it, and those above all of these.
    pub(super) fn inside(&self, ty: TypeIndex) -> TypeSet {
        self.held[ty as usize].inside
    }

    /// Lists a type, the types inside it, and all above these; `None` if there are more
    /// than `most`.
    pub(super) fn held(&self, ty: TypeIndex, most: usize) -> Option<Vec<TypeIndex>> {
        let mut held = IndexSet::<TypeIndex>::from_iter([ty]);
        let mut next = 0;
        while let Some(&ty) = held.get_index(next) {
            next += 1;
            held.extend(self.fields(ty).iter().map(|field| field.ty).chain(self.parent(ty)));
            if held.len() > most {
                return None;
            }
        }
        Some(held.into_iter().collect())
    }

    fn read(&mut self, graph: &Graph, id: TypeId) -> Type {
        let node = graph.ty(id);
        let kind = node.kind();
        let first = self.fields.len() as u32;
        let old = node.format() == Format::Old;
        let parent = match kind {
            TypeKind::Root => None,
            TypeKind::Aggregate if old => None,
            _ => node.parent(),
        };
        let parent = parent.and_then(|parent| self.index(parent)).unwrap_or(NONE);
        // A text may use a node as a parent or field type before it is a type.
        let mut sound = kind != TypeKind::Malformed && (kind != TypeKind::Scalar || parent != NONE);
        let (mut overlapping, mut flexible) = (false, false);
        if kind == TypeKind::Scalar && old && parent != NONE {
            self.fields.push(Field { ty: parent, offset: 0, extent: 0, clear: false });
        } else if kind == TypeKind::Aggregate {
            let (mut previous, mut occupied) = (None, None);
            for field in node.fields() {
                // A class without data: clang's node for it consists of a name.
                let empty = old && graph.ty(field.ty).kind() == TypeKind::Root;
                let element = graph.ty(field.ty).size();
                flexible |= field.extent == Some(0) && element != Some(0);
                overlapping |= !empty && occupied == Some(field.offset);
                occupied = if empty { occupied } else { Some(field.offset) };
                let ty = self.index(field.ty).unwrap_or(NONE);
                sound &= previous <= Some(field.offset) && ty != NONE;
                previous = Some(field.offset);
                let (offset, extent) = (field.offset, field.extent.unwrap_or(0));
                self.fields.push(Field { ty, offset, extent, clear: false });
            }
        }
        Type {
            node: id.node().index,
            format: (kind != TypeKind::Root).then(|| node.format()),
            scalar: kind == TypeKind::Scalar,
            size: node.size().unwrap_or(0),
            overlapping,
            flexible,
            sound,
            rank: NONE,
            root: self.types.len() as u32,
            far: 0,
            arrays: false,
            crooked: false,
            parent,
            first,
            end: self.fields.len() as u32,
        }
    }

    /// Sets the rank of each type from `from` on, and clears `sound` for those that reach a
    /// malformed node, another format, or themselves.
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
                        // All types in it and above it have their ranks.
                        open.pop();
                        self.types[ty as usize].rank = self.free_rank;
                        self.free_rank += 1;
                        if let Some(&(outer, _)) = open.last() {
                            self.types[outer as usize].sound &= self.get(ty).sound;
                        }
                        continue;
                    }
                };
                if child == NONE {
                    continue;
                }
                let (of_child, format) = (*self.get(child), self.get(ty).format);
                // A root has no format and is the type of no memory; in the old format a class without
                // data looks like one.
                let fits = match of_child.format {
                    None => format == Some(Format::Old) || !is_field,
                    of_child => of_child == format,
                };
                // An open child contains this type.
                self.types[ty as usize].sound &= of_child.rank != OPEN && fits;
                if of_child.rank == NONE {
                    self.types[child as usize].rank = OPEN;
                    open.push((child, 0));
                } else {
                    self.types[ty as usize].sound &= of_child.sound;
                }
            }
        }
    }

    /// Adds the types from `from` on to the tree of parents, and sets their roots.
    fn add_to_tree(&mut self, from: u32) {
        // Parents and fields come first: types are sorted by rank.
        let new = from..self.types.len() as u32;
        let mut order: Vec<TypeIndex> = vec![NONE; new.len()];
        new.for_each(|ty| order[(self.get(ty).rank - from) as usize] = ty);
        self.places.resize(self.types.len(), NONE);
        for &ty in &order {
            // An unsound type may be its own ancestor, or have a field of unknown type; nothing
            // uses it.
            if !self.get(ty).sound {
                self.places[ty as usize] = self.tree.push(None);
                continue;
            }
            let parent = self.parent(ty);
            // An old-format aggregate has the root of its fields.
            let mut of_fields = self.fields(ty).iter().map(|field| field.ty);
            let above = parent.or_else(|| of_fields.find(|&ty| self.get(ty).format.is_some()));
            if let Some(above) = above {
                self.types[ty as usize].root = self.get(above).root;
            }
            let parent = parent.map(|parent| self.places[parent as usize]);
            self.places[ty as usize] = self.tree.push(parent);
            self.measure(ty);
        }
        self.tree.catch_up();
    }

    /// Computes the extent of a type's fields, once theirs are known.
    fn measure(&mut self, ty: TypeIndex) {
        let of_type = *self.get(ty);
        let parent = self.parent(ty);
        let above = parent.map(|parent| self.get(parent));
        let old = of_type.format != Some(Format::New);
        // An ancestor's objects may extend past its stated size.
        let own = if of_type.size == u64::MAX { UNBOUNDED } else { of_type.size.into() };
        let tall = above.map_or(0, |above| above.far).max(own);
        let (mut far, mut arrays, mut crooked) = (if old { 0 } else { tall }, false, false);
        if !of_type.scalar && of_type.format.is_some() && !self.brief {
            let slots: Vec<_> = (0..self.fields(ty).len()).map(|at| self.slot(ty, at)).collect();
            for (field, slot) in self.fields(ty).iter().zip(&slots) {
                far = far.max(slot.end).min(UNBOUNDED);
                let array = if old { None } else { elements(self, field, UNBOUNDED) };
                let inside = self.get(field.ty);
                crooked |= inside.crooked
                    || array.is_some_and(|array| inside.far > array.step)
                    || !old && slot.end > self.declared_slot(field).end;
                arrays |= array.is_some() || !old && inside.arrays;
            }
            self.clear(ty, &slots);
        }
        let held = self.fields(ty).iter().map(|field| field.ty).chain(parent);
        let empty = TypeSet::default();
        let mut inside = held.fold(empty, |all, held| all.union(self.held[held as usize].inside));
        inside.add(ty);
        self.held[ty as usize] = Held { inside, rank: of_type.rank, scalar: of_type.scalar };
        let known = &mut self.types[ty as usize];
        (known.far, known.arrays, known.crooked) = (far, arrays, crooked);
    }

    /// Returns the bytes from a field's start to the possible end of what is inside it; in the old
    /// format, to after the last offset at which an object inside it may start.
    pub(super) fn slot(&self, ty: TypeIndex, number: usize) -> Range<u128> {
        let field = &self.fields(ty)[number];
        let inside = self.get(field.ty);
        let start = u128::from(field.offset);
        let end = match inside.format {
            // A class without data contains no path.
            None => start,
            Some(Format::Old) => start + inside.far,
            Some(Format::New) => {
                let array = elements(self, field, UNBOUNDED);
                let last = array.map_or(0, |array| span(&[array]));
                (start + last + inside.far).max(start + u128::from(field.extent))
            }
        };
        start..end
    }

    /// Returns the declared bytes of a size-aware field. Fields that share bytes are members of a
    /// union.
    pub(super) fn declared_slot(&self, field: &Field) -> Range<u128> {
        let start = u128::from(field.offset);
        let flexible = field.extent == 0 && self.get(field.ty).size != 0;
        start..if flexible { UNBOUNDED } else { start + u128::from(field.extent) }
    }

    /// Computes which fields of an aggregate are clear.
    fn clear(&mut self, ty: TypeIndex, slots: &[Range<u128>]) {
        let of_type = *self.get(ty);
        let old = of_type.format == Some(Format::Old);
        if of_type.flexible || old && of_type.overlapping || !old && of_type.size == 0 {
            return;
        }
        let (fields, parent) = (self.fields(ty), self.parent(ty));
        let keeps = |field: &Field| {
            let inside = self.get(field.ty);
            let is_array = elements(self, field, UNBOUNDED).is_some();
            // LLVM's rule: an access of the parent's type already covers every byte of the parent's
            // objects.
            let below = parent.is_some_and(|up| self.is_ancestor(up, field.ty));
            inside.format.is_some()
                && (old || below && (!is_array || inside.far <= inside.size.into()))
        };
        let mut clear: Vec<bool> = fields.iter().map(keeps).collect();
        // Two fields of one type at one place are the same path to their bytes.
        let place = |at: usize| (fields[at].ty, fields[at].offset, fields[at].extent);
        let mut crossed = HashSet::default();
        // The end of the farthest field so far, and its position.
        let mut farthest: Option<(u128, usize)> = None;
        for at in (0..fields.len()).filter(|&at| self.get(fields[at].ty).format.is_some()) {
            if let Some((reached, before)) = farthest
                && reached > slots[at].start
                && place(before) != place(at)
            {
                crossed.extend([place(before), place(at)]);
            }
            // An offset at which an object starts is occupied, in the old format.
            let end = slots[at].end + u128::from(old);
            if farthest.is_none_or(|(reached, _)| end >= reached) {
                farthest = Some((end, at));
            }
        }
        (0..fields.len()).for_each(|at| clear[at] &= !crossed.contains(&place(at)));
        if old && !crossed.is_empty() {
            clear.fill(false);
        }
        for (field, clear) in self.fields[of_type.first as usize..].iter_mut().zip(clear) {
            field.clear = clear;
        }
    }
}

/// Returns the elements of an array field with a slot of `slot` bytes; `None` for a field that is
/// no array.
pub(super) fn elements(types: &Types, field: &Field, slot: u128) -> Option<Stride> {
    let size = u128::from(types.get(field.ty).size);
    if size == 0 || u128::from(field.extent) <= size && field.extent != 0 {
        return None;
    }
    let extent = match u128::from(field.extent) {
        // A flexible array without space in its slot must run past it.
        0 if slot == UNBOUNDED || slot <= u128::from(field.offset) => UNBOUNDED,
        0 => slot - u128::from(field.offset),
        extent => extent,
    };
    Some(Stride { step: size, last: extent.div_ceil(size) - 1 })
}

/// Returns the size of a field's slot, which bounds a flexible array inside it; [`UNBOUNDED`] if
/// its type has none.
pub(super) fn slot_of(types: &Types, field: &Field, elements: Option<Stride>) -> u128 {
    match elements {
        _ if !types.get(field.ty).flexible => UNBOUNDED,
        Some(elements) => elements.step,
        None => field.extent.into(),
    }
}
