//! Random graphs, and modules that use their tags.

use super::Rng;
use tbaa::{BuildError, Format, Graph, SizedField, Tag, TagId, TypeId, TypeKind};

/// What a random graph may contain.
pub struct Universe {
    pub format: Format,
    /// The number of struct types in each type system.
    pub structs: usize,
    /// The maximum number of tags.
    pub tags: usize,
    pub shape: Shape,
}

/// The kind of types and tags in a random graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Fields may share an offset. New-format tags have random sizes, and may access aggregates.
    Any,
    /// Like `Any`, but new-format aggregates have the first scalar as their parent.
    Parented,
    /// No two fields overlap, and every access is to one whole scalar.
    PlainScalars,
    /// Like `PlainScalars`, but in the new format some accesses are to whole structs.
    PlainAggregates,
}

/// Makes a graph of 1 to 3 type systems (roots with their types), with tags that LLVM's verifier
/// accepts. Structs have 1 to 40 fields. All types have different names; some roots have none.
pub fn graph(rng: &mut Rng, universe: &Universe) -> Graph {
    let mut graph = Graph::new();
    let mut types = Vec::new();
    for system in 0..1 + rng.below(3) {
        types.extend(type_system(rng, &mut graph, universe, system));
    }
    // A small graph may not have `universe.tags` different tags, so the attempts are limited.
    for _ in 0..2 * universe.tags {
        if graph.tag_count() < universe.tags {
            let base = *rng.pick(&types);
            tag(rng, &mut graph, base, universe);
        }
    }
    graph
}

#[derive(Clone, Copy)]
struct Aggregate {
    ty: TypeId,
    size: u64,
    depth: usize,
}

fn type_system(
    rng: &mut Rng,
    graph: &mut Graph,
    universe: &Universe,
    system: usize,
) -> Vec<TypeId> {
    let root = match rng.below(4) {
        0 => graph.builder().anonymous_root().unwrap(),
        _ => graph.builder().root(format!("root {system}")).unwrap(),
    };
    let mut scalars = Vec::new();
    let mut parent = root;
    for i in 0..2 + rng.below(8) {
        let name = format!("scalar {system} {i}");
        let ty = scalar(graph, universe.format, &name, parent, 8).unwrap();
        scalars.push(ty);
        parent = if rng.one_in(3) { ty } else { *rng.pick(&scalars) };
    }
    let mut aggregates: Vec<Aggregate> = Vec::new();
    for i in 0..universe.structs {
        let count = match rng.below(4) {
            0 => 1,
            1 => 1 + rng.below(40),
            _ => 1 + rng.below(8),
        };
        // LLVM visits a nested type once per path to it, so a struct contains at most two structs.
        let mut nested = rng.below(3);
        let (mut fields, mut depth) = (Vec::new(), 0);
        let (mut offset, mut end) = (0, 0);
        for _ in 0..count {
            let candidate = (!aggregates.is_empty()).then(|| *rng.pick(&aggregates));
            let (ty, size) = match candidate {
                Some(inner) if nested > 0 && inner.depth < 12 && rng.one_in(2) => {
                    nested -= 1;
                    depth = depth.max(inner.depth + 1);
                    (inner.ty, inner.size)
                }
                _ => (*rng.pick(&scalars), 8),
            };
            let extent = if rng.one_in(6) { size * (1 + rng.below(4) as u64) } else { size };
            fields.push(SizedField { ty, offset, size: extent });
            end = end.max(offset + extent);
            // Unless the shape is plain, the next field sometimes gets the same offset.
            let plain = !matches!(universe.shape, Shape::Any | Shape::Parented);
            if plain || !rng.one_in(12) {
                offset = end + rng.below(4) as u64;
            }
        }
        let name = format!("struct {system} {i}");
        // All scalars descend from the first. If an aggregate has another parent, rules `union`
        // and `llvm` may give different answers.
        let parent = match universe.shape {
            Shape::Any if universe.format == Format::New => *rng.pick(&scalars),
            _ => scalars[0],
        };
        let ty = aggregate(graph, universe.format, &name, parent, &fields).unwrap();
        aggregates.push(Aggregate { ty, size: end, depth });
    }
    scalars.extend(aggregates.iter().map(|aggregate| aggregate.ty));
    scalars
}

/// Adds a tag for a random path, which follows the last of several fields at one offset, like LLVM.
fn tag(rng: &mut Rng, graph: &mut Graph, base: TypeId, universe: &Universe) -> TagId {
    let Universe { format, shape, .. } = *universe;
    let (mut ty, mut offset) = (base, 0);
    loop {
        let node = graph.ty(ty);
        let scalar = node.kind() == TypeKind::Scalar;
        // Only a size-aware tag may access an aggregate.
        let aggregates = format == Format::New && shape != Shape::PlainScalars;
        if scalar || aggregates && rng.one_in(4) {
            break;
        }
        let fields: Vec<_> = node.fields().collect();
        let picked = rng.pick(&fields).offset;
        let field = fields.iter().rfind(|field| field.offset == picked).unwrap();
        offset += field.offset;
        ty = field.ty;
    }
    let immutable = rng.one_in(6);
    let size = match shape {
        _ if format == Format::Old => 0,
        Shape::Any | Shape::Parented => *rng.pick(&[0, 1, 4, 8, 24, u64::MAX]),
        _ => graph.ty(ty).size().unwrap(),
    };
    access(graph, base, ty, offset, size, immutable).unwrap()
}

/// The limits of the structs that a [`Grower`] adds.
#[derive(Clone, Copy)]
pub struct Growth {
    /// One in `unions` new types is a union, on average.
    unions: u64,
    /// Structs of at least this many bytes are not nested in other structs.
    size: u64,
    /// Structs of at least this many levels are not nested in other structs.
    depth: usize,
    /// The maximum number of elements of an array.
    elements: u64,
    /// A new struct contains no struct that was added before the last `recent` ones.
    recent: usize,
}

impl Growth {
    /// Small structs, however many are added.
    pub const FLAT: Growth = Growth { unions: 10, size: 256, depth: 5, elements: 4, recent: 50 };
    /// Deeply nested structs, many unions, and arrays of up to 9 elements.
    pub const DEEP: Growth =
        Growth { unions: 3, size: 1 << 24, depth: 40, elements: 9, recent: 10 };
}

/// Adds structs one by one to a graph with `char` and a few scalars whose parent is `char`.
pub struct Grower {
    format: Format,
    growth: Growth,
    char: TypeId,
    scalars: Vec<Aggregate>,
    structs: Vec<Aggregate>,
}

impl Grower {
    pub fn new(graph: &mut Graph, format: Format, growth: Growth) -> Grower {
        let root = graph.builder().root("R").unwrap();
        let char = scalar(graph, format, "char", root, 1).unwrap();
        let scalars = [("short", 2), ("int", 4), ("float", 4), ("long", 8), ("pointer", 8)];
        let scalars = scalars.map(|(name, size)| {
            let ty = scalar(graph, format, name, char, size).unwrap();
            Aggregate { ty, size, depth: 0 }
        });
        Grower { format, growth, char, scalars: scalars.into(), structs: Vec::new() }
    }

    /// Adds a struct or union of scalars and of recent structs.
    pub fn add(&mut self, graph: &mut Graph, rng: &mut Rng) -> TypeId {
        let Growth { unions, size: most, depth: deepest, elements, recent } = self.growth;
        let recent = &self.structs[self.structs.len().saturating_sub(recent)..];
        let union = rng.one_in(unions);
        let (mut fields, mut end, mut depth) = (Vec::new(), 0_u64, 0);
        for _ in 0..1 + rng.below(6) {
            let inner = (!recent.is_empty() && rng.one_in(2)).then(|| *rng.pick(recent));
            let inner = inner.filter(|inner| inner.size < most && inner.depth < deepest);
            let Aggregate { ty, size, depth: inside } =
                inner.unwrap_or_else(|| *rng.pick(&self.scalars));
            depth = depth.max(inside + 1);
            let size = size * if rng.one_in(4) { 1 + rng.below(elements) } else { 1 };
            let offset = if union { 0 } else { end };
            fields.push(SizedField { ty, offset, size });
            end = end.max(offset + size).next_multiple_of(4);
        }
        let name = format!("struct {}", self.structs.len());
        let ty = aggregate(graph, self.format, &name, self.char, &fields).unwrap();
        self.structs.push(Aggregate { ty, size: end, depth });
        ty
    }

    /// Returns a random one of the added structs.
    pub fn pick(&self, rng: &mut Rng) -> TypeId {
        rng.pick(&self.structs).ty
    }

    /// Adds a tag for a random access in `base`. Returns `None` if the builder refuses the tag.
    pub fn tag(&self, graph: &mut Graph, base: TypeId, rng: &mut Rng) -> Option<TagId> {
        let (mut ty, mut offset) = (base, 0);
        while graph.ty(ty).kind() == TypeKind::Aggregate {
            // Only a size-aware tag may access an aggregate.
            if self.format == Format::New && rng.one_in(6) {
                break;
            }
            let fields: Vec<_> = graph.ty(ty).fields().collect();
            let field = rng.pick(&fields);
            (ty, offset) = (field.ty, offset + field.offset);
        }
        let size = graph.ty(ty).size().unwrap_or(0);
        let size =
            *rng.pick(&[size, size, size, size, if ty == base { size } else { 2 * size }, 0]);
        access(graph, base, ty, offset, size, false).ok()
    }
}

/// Adds a scalar in `format`. `size` is unused in the old format.
///
/// # Errors
///
/// The builder's errors.
pub fn scalar(
    graph: &mut Graph,
    format: Format,
    name: &str,
    parent: TypeId,
    size: u64,
) -> Result<TypeId, BuildError> {
    match format {
        Format::Old => graph.builder().scalar_type(name, parent),
        Format::New => graph.builder().sized_type(parent, size, name, &[]),
    }
}

/// Adds a struct in `format`. In the new format, its size is the largest end of a field; in the old
/// format, `parent` is unused.
///
/// # Errors
///
/// The builder's errors.
pub fn aggregate(
    graph: &mut Graph,
    format: Format,
    name: &str,
    parent: TypeId,
    fields: &[SizedField],
) -> Result<TypeId, BuildError> {
    match format {
        Format::Old => {
            let fields: Vec<_> = fields.iter().map(|field| (field.ty, field.offset)).collect();
            graph.builder().struct_type(name, &fields)
        }
        Format::New => {
            let end = |field: &SizedField| field.offset.saturating_add(field.size);
            let size = fields.iter().map(end).max().unwrap_or(0);
            graph.builder().sized_type(parent, size, name, fields)
        }
    }
}

/// Adds a tag in the format of its base type.
///
/// # Errors
///
/// The builder's errors.
pub fn access(
    graph: &mut Graph,
    base: TypeId,
    access: TypeId,
    offset: u64,
    size: u64,
    immutable: bool,
) -> Result<TagId, BuildError> {
    let format = graph.ty(base).format();
    let size = (format == Format::New).then(|| size.into());
    graph.builder().tag(Tag { base, access, offset, size, immutable, format })
}

/// Returns the tags, such as `!3`, that the first line of a graph's metadata lists.
pub fn numbers(metadata: &str) -> Vec<&str> {
    let list = metadata.lines().next().unwrap().split_once('{').unwrap().1;
    list.trim_end_matches('}').split(", ").collect()
}

/// Returns the text of a function. Store `k`, from 0 on, has value `k` and tag `k` of `nodes`.
pub fn stores(name: &str, nodes: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    let mut out = format!("define void @{name}(ptr %p) {{\n");
    for (k, node) in nodes.into_iter().enumerate() {
        out.push_str(&format!("  store i64 {k}, ptr %p, align 1, !tbaa {node}\n"));
    }
    out + "  ret void\n}\n"
}

/// Returns a module with a store for each tag of a graph, in order.
pub fn module(graph: &Graph) -> String {
    module_of(graph, graph.tags())
}

/// Returns a module with a store for each of some tags.
pub fn module_of(graph: &Graph, tags: impl Iterator<Item = TagId>) -> String {
    let metadata = tbaa_ir::write(graph);
    let numbers = numbers(&metadata);
    stores("f", tags.map(|tag| numbers[tag.index()])) + "\n" + &metadata
}

/// Returns a module with random types and a store for each of `tags` random tags. If `is_deep`,
/// types form long chains, and some offsets may be `i32`; otherwise types may be recursive.
pub fn wild(rng: &mut Rng, types: usize, tags: usize, is_deep: bool) -> String {
    let (rare, mixed, all_new) = (rng.one_in(4), rng.one_in(4), rng.one_in(2));
    let int = |rng: &mut Rng, value: usize| {
        format!("i{} {value}", if is_deep && rare && rng.one_in(30) { 32 } else { 64 })
    };
    let mut metadata = String::new();
    let mut size_aware = vec![false; types];
    let mut fields_of: Vec<Vec<(usize, usize)>> = vec![Vec::new(); types];
    for ty in 0..types {
        if ty == 0 || ty == 1 && rng.one_in(3) {
            metadata += &format!("!{} = !{{!\"root {ty}\"}}\n", tags + ty);
            continue;
        }
        let pool = match () {
            () if !is_deep && rare && rng.one_in(3) => 0..types,
            () if is_deep && !rng.one_in(8) => ty.saturating_sub(3)..ty,
            () => 0..ty,
        };
        let mut other = || pool.start + rng.below(pool.len());
        let (parent, field_types) = (other(), [other(), other(), other()]);
        size_aware[ty] = if mixed { rng.one_in(2) } else { all_new };
        let count = *rng.pick(&[0, 0, 1, 2, 3]);
        let mut offsets: Vec<_> = (0..count).map(|_| *rng.pick(&[0, 0, 0, 4, 4, 8])).collect();
        offsets.sort_unstable();
        fields_of[ty] = field_types.into_iter().zip(offsets).collect();
        let mut node = match size_aware[ty] {
            true => format!("!{}, i64 {}, !\"t{ty}\"", tags + parent, rng.pick(&[0, 4, 4, 8])),
            false => format!("!\"t{ty}\""),
        };
        for &(field, offset) in &fields_of[ty] {
            node += &format!(", !{}, {}", tags + field, int(rng, offset));
            node += if size_aware[ty] { ", i64 4" } else { "" };
        }
        if count == 0 && !size_aware[ty] {
            node += &format!(", !{}", tags + parent);
            node += if rng.one_in(3) { "" } else { ", i64 0" };
            fields_of[ty].push((parent, 0));
        }
        metadata += &format!("!{} = !{{{node}}}\n", tags + ty);
    }
    for tag in 0..tags {
        let base = rng.below(types);
        let (mut access, mut offset) = (base, 0);
        if rng.one_in(5) {
            (access, offset) = (rng.below(types), *rng.pick(&[0, 0, 0, 4, 4, 8]));
        } else {
            // Follows fields. The parent of an old-format scalar is in `fields_of`, too.
            for _ in 0..rng.below(if is_deep { 30 } else { 5 }) {
                let stays = size_aware[access] && rng.one_in(5);
                if fields_of[access].is_empty() || stays {
                    break;
                }
                let (field, at) = *rng.pick(&fields_of[access]);
                (access, offset) = (field, offset + at);
            }
        }
        let size = if size_aware[access] { ", i64 4" } else { "" };
        let (base, access, offset) = (tags + base, tags + access, int(rng, offset));
        metadata += &format!("!{tag} = !{{!{base}, !{access}, {offset}{size}}}\n");
    }
    stores("f", (0..tags).map(|tag| format!("!{tag}"))) + &metadata
}
