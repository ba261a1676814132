//! The types of a graph, converted into the form that searches use.

use std::ops::Range;

use crate::extent::UNBOUNDED;
use crate::forest::Forest;
use crate::graph::{Format, Graph, TypeId, TypeKind};
use crate::table::{HashSet, IndexSet};
use crate::type_set::TypeSet;

pub(super) type TypeIndex = u32;

const NONE: u32 = u32::MAX;

/// The elements of an array, with indices `0..=last`. They begin `step` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Stride {
    pub(super) step: u128,
    pub(super) last: u128,
}

/// Returns the distance in bytes from the first element (all array indices 0) to the last one.
pub(super) fn span(strides: &[Stride]) -> u128 {
    strides.iter().map(|stride| stride.step * stride.last).sum()
}

/// A field. Offsets and sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) ty: TypeIndex,
    pub(super) offset: u64,
    /// The size of the field, or 0 in the old format, which does not record it.
    pub(super) extent: u64,
    /// If true, no other field of the aggregate overlaps the field. Fields with the same type,
    /// offset and size count as one. Computed by [`Types::clear`].
    pub(super) clear: bool,
}

/// A type. An old-format scalar has its parent as its only field, at offset 0. So it looks like a
/// struct with one field, and a path that ends at a scalar also ends at the scalar's ancestors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    /// The index of the type's metadata node.
    pub(super) node: u32,
    /// The format, or `None` for a root.
    pub(super) format: Option<Format>,
    /// True if the node is a scalar. In the old format, only scalars have parents.
    pub(super) scalar: bool,
    /// The size of the type, or 0 in the old format, which does not record it.
    pub(super) size: u64,
    /// True if two fields begin at the same offset. Fields of classes without data do not count.
    pub(super) overlapping: bool,
    pub(super) flexible: bool,
    /// True if this type, its fields' types and its ancestors, at any depth, are well formed, have
    /// one format, and none contains itself.
    pub(super) sound: bool,
    /// A number. In a sound type, it exceeds the ranks of the field types and of the parent.
    pub(super) rank: u32,
    /// The root above the type, if it is sound.
    pub(super) root: TypeIndex,
    /// The end of the type, in bytes from its start: the largest of its size, the ends of its
    /// fields and their contents, and its parent's end. [`UNBOUNDED`] if it contains a flexible
    /// array or has the size 2^64-1. In the old format, which has no sizes, the last offset at
    /// which an object inside the type may begin.
    pub(super) far: u128,
    /// True if, in this type or a type inside it, the contents of a field or array element extend
    /// past the declared end of that field or element.
    pub(super) crooked: bool,
    pub(super) arrays: bool,
    parent: u32,
    first: u32,
    end: u32,
}

/// Facts about a type, for quick tests whether it may contain another.
#[derive(Clone, Copy, Default, Debug)]
struct Held {
    /// The set of the type itself, the types inside it, and the ancestors of all of these.
    inside: TypeSet,
    rank: u32,
    scalar: bool,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Types {
    types: Vec<Type>,
    /// The facts for [`Types::may_hold`] about each sound type.
    held: Vec<Held>,
    fields: Vec<Field>,
    /// The type of each node, by node index. `NONE` for nodes that are not types.
    by_node: Vec<u32>,
    /// The forest in which each type is below its parent.
    tree: Forest,
    /// The node of each type in `tree`.
    places: Vec<u32>,
    /// The lowest rank that no type has yet.
    free_rank: u32,
    /// True if `far`, `arrays`, `crooked` and `clear` of aggregates are not needed, nor computed.
    pub(super) brief: bool,
}

impl Types {
    /// Adds the types that were added to the graph since the last call.
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

    /// Returns the index of an aggregate's last field that begins at or before an offset. Fields of
    /// classes without data, which look like roots, are skipped.
    pub(super) fn field_at(&self, ty: TypeIndex, offset: u64) -> Option<usize> {
        let fields = self.fields(ty);
        let started = fields.partition_point(|field| field.offset <= offset);
        fields[..started].iter().rposition(|field| self.get(field.ty).format.is_some())
    }

    /// Returns the parent of a type. In the old format, only scalars have one.
    pub(super) fn parent(&self, ty: TypeIndex) -> Option<TypeIndex> {
        let parent = self.get(ty).parent;
        (parent != NONE).then_some(parent)
    }

    /// Iterates over a sound type and its ancestors, upwards.
    pub(super) fn ancestors(&self, ty: TypeIndex) -> impl Iterator<Item = TypeIndex> + '_ {
        std::iter::successors(Some(ty), |&ty| self.parent(ty))
    }

    /// Returns whether the sound type `upper` is the sound type `ty` or an ancestor of it.
    pub(super) fn is_ancestor(&self, upper: TypeIndex, ty: TypeIndex) -> bool {
        self.tree.is_ancestor(self.places[upper as usize], self.places[ty as usize])
    }

    /// Returns whether an object of type `ty` may be or contain one that can be accessed as type
    /// `object`. Both types must be sound. A `false` is certain, a `true` is not.
    #[inline]
    pub(super) fn may_hold(&self, ty: TypeIndex, object: TypeIndex) -> bool {
        let (outer, inner) = (&self.held[ty as usize], &self.held[object as usize]);
        // A type has a lower rank than those that contain it. For scalars, the forest decides.
        outer.rank >= inner.rank
            && outer.inside.may_have(object)
            && (!outer.scalar || self.is_ancestor(object, ty))
    }

    /// Returns whether a type has another as the type of a field, at any depth.
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

    /// Returns whether it is certain that neither type can contain an object of the other.
    #[inline]
    pub(super) fn are_apart(&self, x: TypeIndex, y: TypeIndex) -> bool {
        // Only the type with the higher rank can contain the other. A branch on the ranks would be
        // unpredictable, so an index selects the types.
        let lower = self.held[x as usize].rank < self.held[y as usize].rank;
        let pair = [x, y];
        let (outer, inner) = (pair[usize::from(lower)], pair[usize::from(!lower)]);
        let holder = &self.held[outer as usize];
        !holder.inside.may_have(inner) || holder.scalar && !self.is_ancestor(inner, outer)
    }

    pub(super) fn inside(&self, ty: TypeIndex) -> TypeSet {
        self.held[ty as usize].inside
    }

    /// Returns a type, the types in it and the ancestors of all, or `None` if they exceed `most`.
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
        // If a field's type or a scalar's parent is not a known type, this type is unsound.
        let mut sound = kind != TypeKind::Malformed && (kind != TypeKind::Scalar || parent != NONE);
        let (mut overlapping, mut flexible) = (false, false);
        if kind == TypeKind::Scalar && old && parent != NONE {
            self.fields.push(Field { ty: parent, offset: 0, extent: 0, clear: false });
        } else if kind == TypeKind::Aggregate {
            let (mut previous, mut occupied) = (None, None);
            for field in node.fields() {
                // clang writes a class without data as a node that contains only a name.
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

    /// Computes the rank of each type from `from` on. Clears `sound` for types whose fields or
    /// ancestors, at any depth, are malformed, recursive or of another format.
    fn judge(&mut self, from: u32) {
        const OPEN: u32 = NONE - 1;
        // Types whose fields are being visited, and the next field to visit for each.
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
                // A root has no format, and memory cannot have its type. But in the old format, a
                // class without data looks like a root.
                let fits = match of_child.format {
                    None => format == Some(Format::Old) || !is_field,
                    of_child => of_child == format,
                };
                // A child that is being visited leads back to this type, so both are recursive.
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

    /// Adds the types from `from` on to the forest of parents, and sets their roots.
    fn add_to_tree(&mut self, from: u32) {
        // In the order of ranks, parents and fields come before the types that use them.
        let new = from..self.types.len() as u32;
        let mut order: Vec<TypeIndex> = vec![NONE; new.len()];
        new.for_each(|ty| order[(self.get(ty).rank - from) as usize] = ty);
        self.places.resize(self.types.len(), NONE);
        for &ty in &order {
            // An unsound type may be its own ancestor, or have a field whose type is unknown.
            // Nothing uses its entry in the forest.
            if !self.get(ty).sound {
                self.places[ty as usize] = self.tree.push(None);
                continue;
            }
            let parent = self.parent(ty);
            // An old-format aggregate has no parent, but its fields have a root.
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

    /// Computes `far`, `arrays`, `crooked` and [`Held`] of a type, and `clear` of its fields.
    fn measure(&mut self, ty: TypeIndex) {
        let of_type = *self.get(ty);
        let parent = self.parent(ty);
        let above = parent.map(|parent| self.get(parent));
        let old = of_type.format != Some(Format::New);
        // An object of this type is also one of its parent's type, so it reaches the parent's end.
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

    /// Returns the range of bytes from a field's start to the end of the field and of its contents.
    /// In the old format, the end is the last offset at which an object inside the field may begin.
    pub(super) fn slot(&self, ty: TypeIndex, number: usize) -> Range<u128> {
        let field = &self.fields(ty)[number];
        let inside = self.get(field.ty);
        let start = u128::from(field.offset);
        let end = match inside.format {
            // No path leads into a class without data.
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

    /// Returns the declared range of bytes of a field of the new format. Fields whose declared
    /// ranges overlap are members of a union.
    pub(super) fn declared_slot(&self, field: &Field) -> Range<u128> {
        let start = u128::from(field.offset);
        let flexible = field.extent == 0 && self.get(field.ty).size != 0;
        start..if flexible { UNBOUNDED } else { start + u128::from(field.extent) }
    }

    /// Computes `clear` for the fields of an aggregate.
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
            // An access of the parent's type covers every byte of an object of this type, so the
            // parent must be an ancestor of each field's type.
            let below = parent.is_some_and(|up| self.is_ancestor(up, field.ty));
            inside.format.is_some()
                && (old || below && (!is_array || inside.far <= inside.size.into()))
        };
        let mut clear: Vec<bool> = fields.iter().map(keeps).collect();
        // Two fields with the same type, offset and size are the same path to their bytes.
        let place = |at: usize| (fields[at].ty, fields[at].offset, fields[at].extent);
        let mut crossed = HashSet::default();
        // The end of the field that extends farthest so far, and the field's index.
        let mut farthest: Option<(u128, usize)> = None;
        for at in (0..fields.len()).filter(|&at| self.get(fields[at].ty).format.is_some()) {
            if let Some((reached, before)) = farthest
                && reached > slots[at].start
                && place(before) != place(at)
            {
                crossed.extend([place(before), place(at)]);
            }
            // In the old format, an offset at which an object begins counts as occupied.
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

/// Returns the elements of a field that is an array, or `None` if it is not one. `slot` is the
/// number of bytes for the aggregate that has the field, and limits a flexible array.
pub(super) fn elements(types: &Types, field: &Field, slot: u128) -> Option<Stride> {
    let size = u128::from(types.get(field.ty).size);
    if size == 0 || u128::from(field.extent) <= size && field.extent != 0 {
        return None;
    }
    let extent = match u128::from(field.extent) {
        // If `slot` has no space for a flexible array, the array extends past it.
        0 if slot == UNBOUNDED || slot <= u128::from(field.offset) => UNBOUNDED,
        0 => slot - u128::from(field.offset),
        extent => extent,
    };
    Some(Stride { step: size, last: extent.div_ceil(size) - 1 })
}

/// Returns the size that limits a flexible array in a field's type: the size of the field or, if
/// the field is an array, of one element. [`UNBOUNDED`] if the type has no flexible array.
pub(super) fn slot_of(types: &Types, field: &Field, elements: Option<Stride>) -> u128 {
    match elements {
        _ if !types.get(field.ty).flexible => UNBOUNDED,
        Some(elements) => elements.step,
        None => field.extent.into(),
    }
}
