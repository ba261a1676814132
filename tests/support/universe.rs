//! Types and tags as plain data, from which tests make graphs.

use std::fmt;

use tbaa::raw::RawGraph;
use tbaa::{Graph, Int, NodeId, Operand, TagId};

use super::Rng;

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub ty: usize,
    pub offset: u64,
    pub extent: u64,
}

#[derive(Clone, Default, Debug)]
pub struct Type {
    pub name: String,
    /// `None` for a root and for an old-format aggregate.
    pub parent: Option<usize>,
    pub size: u64,
    pub fields: Vec<Field>,
    pub root: bool,
    /// True for an old-format scalar whose node has a name and a parent, but no offset.
    pub brief: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pub base: usize,
    pub access: usize,
    pub offset: u64,
    pub size: u64,
}

/// Types and tags of one format.
#[derive(Clone, Default)]
pub struct Universe {
    pub sized: bool,
    pub types: Vec<Type>,
    pub tags: Vec<Tag>,
}

impl Universe {
    pub fn new(sized: bool) -> Universe {
        Universe { sized, ..Universe::default() }
    }

    /// Returns a universe with a root and scalars of one size below it, and their indices.
    pub fn of_scalars<const N: usize>(
        sized: bool,
        size: u64,
        names: [&str; N],
    ) -> (Universe, usize, [usize; N]) {
        let mut universe = Universe::new(sized);
        let root = universe.root("R");
        let scalars = names.map(|name| universe.scalar(name, root, size));
        (universe, root, scalars)
    }

    pub fn root(&mut self, name: &str) -> usize {
        self.add(Type { name: name.into(), root: true, ..Type::default() })
    }

    pub fn scalar(&mut self, name: &str, parent: usize, size: u64) -> usize {
        self.add(Type { name: name.into(), parent: Some(parent), size, ..Type::default() })
    }

    /// Adds an aggregate. A field is its type, offset and extent (size).
    pub fn aggregate(
        &mut self,
        name: &str,
        parent: usize,
        size: u64,
        fields: &[(usize, u64, u64)],
    ) -> usize {
        let field = |&(ty, offset, extent)| Field { ty, offset, extent };
        let (parent, fields) = (self.sized.then_some(parent), fields.iter().map(field).collect());
        self.add(Type { name: name.into(), parent, size, fields, ..Type::default() })
    }

    fn add(&mut self, ty: Type) -> usize {
        self.types.push(ty);
        self.types.len() - 1
    }

    pub fn tag(&mut self, base: usize, access: usize, offset: u64, size: u64) -> usize {
        self.tags.push(Tag { base, access, offset, size });
        self.tags.len() - 1
    }

    /// Removes a type that no other type and no tag uses.
    pub fn remove(&mut self, ty: usize) {
        self.types.remove(ty);
        let shift = |other: &mut usize| *other -= usize::from(*other > ty);
        for user in &mut self.types {
            user.parent.iter_mut().for_each(shift);
            user.fields.iter_mut().for_each(|field| shift(&mut field.ty));
        }
        for tag in &mut self.tags {
            [&mut tag.base, &mut tag.access].into_iter().for_each(shift);
        }
    }

    /// Returns the graph, and the id of each tag. Equal tags have the same id.
    pub fn graph(&self) -> (Graph, Vec<TagId>) {
        let mut graph = Graph::new();
        let tags = self.add_to(&mut graph);
        (graph, tags)
    }

    /// Adds the types and tags to a graph, and returns the id of each tag.
    pub fn add_to(&self, graph: &mut Graph) -> Vec<TagId> {
        let nodes = self.add_types(graph);
        self.tags.iter().map(|tag| self.add_tag(graph, &nodes, tag)).collect()
    }

    pub fn add_types(&self, graph: &mut Graph) -> Vec<NodeId> {
        let int = |value| Operand::Int(Int::i64(value));
        let mut nodes: Vec<NodeId> = Vec::new();
        for ty in &self.types {
            let mut operands = vec![Operand::String(ty.name.as_bytes())];
            let parent = ty.parent.map(|parent| Operand::Node(nodes[parent]));
            if let (true, Some(parent)) = (self.sized, parent) {
                operands = vec![parent, int(ty.size), operands[0]];
            } else if let Some(parent) = parent {
                operands.push(parent);
                operands.extend((!ty.brief).then(|| int(0)));
            }
            for field in &ty.fields {
                operands.extend([Operand::Node(nodes[field.ty]), int(field.offset)]);
                operands.extend(self.sized.then(|| int(field.extent)));
            }
            let node = graph.insert(&operands).unwrap();
            graph.mark_type(node);
            nodes.push(node);
        }
        nodes
    }

    pub fn add_tag(&self, graph: &mut Graph, nodes: &[NodeId], tag: &Tag) -> TagId {
        let [base, access] = [tag.base, tag.access].map(|ty| Operand::Node(nodes[ty]));
        let [offset, size] = [tag.offset, tag.size].map(|value| Operand::Int(Int::i64(value)));
        let operands = [base, access, offset, size];
        let node = graph.insert(&operands[..if self.sized { 4 } else { 3 }]).unwrap();
        graph.mark_tag(node)
    }

    pub fn show_tag(&self, tag: &Tag) -> String {
        let Tag { base, access, offset, size } = tag;
        format!("({}, {}, {offset}, {size})", self.types[*base].name, self.types[*access].name)
    }
}

impl fmt::Debug for Universe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tbaa_ir::write(&self.graph().0))
    }
}

/// The kinds of types and tags that a random universe may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Taste {
    /// Like `Wild`, but always with two roots. The fields of a type often descend from both.
    Mixed,
    /// Unions, odd offsets, arrays that end inside an element, flexible arrays, types whose fields
    /// exceed their size, one or two roots, malformed tags.
    Wild,
    /// Fields that do not overlap, sizes that cover the fields, well-formed tags that access
    /// scalars, scalars no smaller than their parents, and aggregates whose parent is the root.
    Tame,
}

/// Makes a random universe. Each type has at most 300 paths (see [`concrete_paths`]).
pub fn random(rng: &mut Rng, sized: bool, taste: Taste) -> Universe {
    let mut u = Universe::new(sized);
    let wild = taste != Taste::Tame;
    let roots = if taste == Taste::Mixed || wild && rng.one_in(4) { 2 } else { 1 };
    for number in 0..roots {
        let root = u.root(&format!("root{number}"));
        let mut parents = vec![root];
        for _ in 0..2 + rng.below(3) {
            let parent = *rng.pick(&parents);
            let size = match rng.below(24) {
                0 if wild => 0,
                1 if wild => 3,
                n => [1, 2, 4, 8][(n % 4) as usize],
            };
            let size = if wild { size } else { size.max(u.types[parent].size) };
            let scalar = u.scalar(&format!("s{}", u.types.len()), parent, size);
            u.types[scalar].brief = !sized && rng.one_in(4);
            parents.push(scalar);
        }
    }
    grow(rng, &mut u, taste);
    u
}

/// Adds random types, which may refer to the existing types, and random tags.
pub fn grow(rng: &mut Rng, u: &mut Universe, taste: Taste) {
    let wild = taste != Taste::Tame;
    let is_scalar = |&ty: &usize| u.types[ty].fields.is_empty() && !u.types[ty].root;
    let scalars: Vec<usize> = (0..u.types.len()).filter(is_scalar).collect();
    for _ in 0..1 + rng.below(5) {
        let types: Vec<usize> = (0..u.types.len()).filter(|&ty| !u.types[ty].root).collect();
        if wild && rng.one_in(12) {
            // No compiler makes an aggregate the parent of a scalar, but metadata may do so.
            let size = *rng.pick(&[0, 4, 8]);
            u.scalar(&format!("t{}", types.len()), *rng.pick(&types), size);
        }
        let aggregate = random_aggregate(rng, u, &scalars, taste);
        let ty = u.add(aggregate);
        if concrete_paths(u, ty) > 300 {
            u.types.pop();
        }
    }
    for _ in 0..12 {
        let tag = random_tag(rng, u, wild);
        u.tags.push(tag);
    }
}

fn random_aggregate(rng: &mut Rng, u: &Universe, scalars: &[usize], taste: Taste) -> Type {
    let (wild, mixed) = (taste != Taste::Tame, taste == Taste::Mixed);
    let root_of = |mut ty: usize| loop {
        match u.types[ty].parent.or(u.types[ty].fields.first().map(|field| field.ty)) {
            Some(up) => ty = up,
            None => return ty,
        }
    };
    let all: Vec<usize> = (0..u.types.len()).filter(|&ty| !u.types[ty].root).collect();
    let recent = &all[all.len().saturating_sub(3)..];
    let first = if rng.one_in(2) { *rng.pick(recent) } else { *rng.pick(scalars) };
    let root = root_of(first);
    let mut fields: Vec<Field> = Vec::new();
    let union = wild && rng.one_in(3);
    let odd = wild && rng.one_in(4);
    let mut end = 0;
    for number in 0..1 + rng.below(4) {
        let from = if rng.one_in(2) { recent } else { &all };
        let mut ty = if number == 0 { first } else { *rng.pick(from) };
        if let Some(last) = fields.last().filter(|_| rng.one_in(5)) {
            ty = last.ty;
        }
        if root_of(ty) != root && !(mixed || wild && rng.one_in(20)) {
            ty = first;
        }
        let size = u.types[ty].size;
        let count = if rng.one_in(3) { 1 + rng.below(5) } else { 1 };
        let mut extent = size * count;
        if wild && u.sized {
            match rng.below(30) {
                0 => extent = 0,
                1 => extent = extent.saturating_sub(1 + rng.below(3)),
                2..=5 if size > 1 => extent += rng.below(size),
                _ => {}
            }
        }
        let offset = match () {
            () if odd => rng.below(10),
            () if union => 0,
            () if !u.sized && number > 0 => end.max(fields.last().map_or(0, |f| f.offset) + 1),
            () => end + if rng.one_in(4) { rng.below(4) } else { 0 },
        };
        end = end.max(offset + extent);
        if !wild {
            // Two fields at one offset would overlap.
            end = end.max(offset + 1);
        }
        fields.push(Field { ty, offset, extent });
    }
    fields.sort_by_key(|field| field.offset);
    let mut size = end + if rng.one_in(4) { rng.below(4) } else { 0 };
    if wild && rng.one_in(12) {
        size = size.saturating_sub(rng.below(4));
    }
    let parent = if wild && rng.one_in(2) {
        let mut kin = all.clone();
        kin.retain(|&ty| mixed || root_of(ty) == root);
        *rng.pick(&kin)
    } else {
        root
    };
    let name = format!("{}{}", if union { "U" } else { "S" }, u.types.len());
    Type { name, parent: u.sized.then_some(parent), size, fields, ..Type::default() }
}

/// Returns the number of paths from a type to itself and the types inside it. In the new format,
/// array elements with a size have separate paths, and extent 0 stands for 40 elements.
pub fn concrete_paths(u: &Universe, ty: usize) -> u64 {
    let below = |field: &Field| {
        let size = u.types[field.ty].size;
        let elements = match field.extent {
            _ if size == 0 || !u.sized => 1,
            0 => 40,
            extent => extent.div_ceil(size).max(1),
        };
        elements.saturating_mul(concrete_paths(u, field.ty))
    };
    1 + u.types[ty].fields.iter().map(below).sum::<u64>()
}

fn random_tag(rng: &mut Rng, u: &Universe, wild: bool) -> Tag {
    let types: Vec<usize> = (0..u.types.len()).filter(|&ty| !u.types[ty].root || wild).collect();
    let from = if rng.one_in(3) { 0 } else { types.len().saturating_sub(4) };
    let base = *rng.pick(&types[from..]);
    // Follows fields to a scalar, or stops on the way.
    let (mut access, mut offset, mut displaced) = (base, 0, 0);
    while !u.types[access].fields.is_empty() {
        if wild && rng.one_in(5) {
            break;
        }
        let fields = &u.types[access].fields;
        let Field { ty, offset: at, extent } = *rng.pick(fields);
        let size = u.types[ty].size;
        let elements = if size == 0 { 1 } else { extent.div_ceil(size).max(1) };
        offset += at;
        displaced += at + size * rng.below(elements);
        access = ty;
    }
    if !u.sized && rng.one_in(6) {
        // An old-format tag may access the parent of the scalar at the path's end.
        access = u.types[access].parent.filter(|&up| !u.types[up].root).unwrap_or(access);
    }
    let mut size = u.types[access].size;
    if wild {
        match rng.below(12) {
            0 => size = 0,
            1 => size = u64::MAX,
            2 => size = 1 + rng.below(12),
            3 => size *= 2,
            _ => {}
        }
        match rng.below(16) {
            0 => offset = displaced,
            1 => offset = rng.below(12),
            2 => access = *rng.pick(&types),
            _ => {}
        }
    }
    Tag { base, access, offset, size }
}
