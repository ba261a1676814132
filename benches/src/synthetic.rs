//! Makes synthetic graphs: of a given depth, number of fields or number of tags, or adversarial.

use tbaa::{Format, Graph, SizedField, TagId, TypeId};

use tbaa_tests::{Rng, random};

/// The size of every scalar, in bytes.
const SCALAR: u64 = 8;

/// A struct type with its fields, from which random access paths are chosen.
struct Aggregate {
    ty: TypeId,
    size: u64,
    depth: usize,
    /// The number of paths to scalars.
    scalars: usize,
    /// The type and the offset in bytes of each field.
    fields: Vec<(Inner, u64)>,
}

#[derive(Clone, Copy)]
enum Inner {
    Scalar(TypeId),
    Aggregate(usize),
}

/// Makes a graph of one format under one root, with scalar types like clang's.
pub(crate) struct Maker {
    pub(crate) graph: Graph,
    format: Format,
    char: TypeId,
    scalars: Vec<TypeId>,
    aggregates: Vec<Aggregate>,
}

impl Maker {
    pub(crate) fn new(format: Format) -> Maker {
        let mut graph = Graph::new();
        let root = graph.builder().root("Simple C/C++ TBAA").expect("a root");
        let mut maker = Maker { graph, format, char: root, scalars: vec![], aggregates: vec![] };
        maker.char = maker.scalar("omnipotent char", root);
        let names = ["bool", "short", "int", "long", "long long", "float", "double", "any pointer"];
        maker.scalars = names.iter().map(|name| maker.scalar(name, maker.char)).collect();
        // Pointer types: a chain of scalars under `any pointer`.
        let mut above = maker.scalars[7];
        for depth in 1..=4 {
            above = maker.scalar(&format!("p{depth} int"), above);
            maker.scalars.push(above);
        }
        maker
    }

    fn scalar(&mut self, name: &str, parent: TypeId) -> TypeId {
        random::scalar(&mut self.graph, self.format, name, parent, SCALAR).expect("a scalar")
    }

    /// Adds a struct and returns its index in `aggregates`. Fields at the same offset form a union.
    fn aggregate(&mut self, name: &str, fields: Vec<(Inner, u64)>) -> usize {
        let (mut size, mut depth, mut scalars) = (0, 0, 0_usize);
        let mut described = Vec::with_capacity(fields.len());
        for &(inner, offset) in &fields {
            let (ty, of_field) = match inner {
                Inner::Scalar(ty) => {
                    scalars = scalars.saturating_add(1);
                    (ty, SCALAR)
                }
                Inner::Aggregate(number) => {
                    let inner = &self.aggregates[number];
                    depth = depth.max(inner.depth + 1);
                    scalars = scalars.saturating_add(inner.scalars);
                    (inner.ty, inner.size)
                }
            };
            described.push(SizedField { ty, offset, size: of_field });
            size = size.max(offset.saturating_add(of_field));
        }
        let ty = random::aggregate(&mut self.graph, self.format, name, self.char, &described);
        let ty = ty.expect("a struct");
        self.aggregates.push(Aggregate { ty, size, depth, scalars, fields });
        self.aggregates.len() - 1
    }

    /// Adds a struct of `fields` scalars. `variant` chooses the scalars' types.
    pub(crate) fn plain(&mut self, name: &str, fields: usize, variant: usize) -> TypeId {
        let mut rest = variant;
        let fields = (0..fields as u64).map(|position| {
            let kind = self.scalars[rest % self.scalars.len()];
            rest /= self.scalars.len();
            (Inner::Scalar(kind), position * SCALAR)
        });
        let fields = fields.collect();
        let number = self.aggregate(name, fields);
        self.aggregates[number].ty
    }

    pub(crate) fn tag(&mut self, base: TypeId, access: TypeId, offset: u64) -> TagId {
        random::access(&mut self.graph, base, access, offset, SCALAR, false).expect("a tag")
    }

    /// Adds the tag of the field with index `field` of a struct that [`Maker::plain`] made.
    pub(crate) fn field_tag(&mut self, base: TypeId, field: usize) -> TagId {
        let Some(found) = self.graph.ty(base).fields().nth(field) else {
            panic!("field {field} of a struct with fewer");
        };
        self.tag(base, found.ty, found.offset)
    }

    /// Adds a tag for a random path to a scalar from the struct with index `base` in `aggregates`.
    fn tag_in(&mut self, rng: &mut Rng, base: usize) {
        let (mut at, mut offset) = (base, 0);
        let access = loop {
            let (inner, start) = *rng.pick(&self.aggregates[at].fields);
            offset += start;
            match inner {
                Inner::Scalar(ty) => break ty,
                Inner::Aggregate(number) => at = number,
            }
        };
        self.tag(self.aggregates[base].ty, access, offset);
    }
}

/// A program whose structs resemble those of real programs. A struct has 9 fields on average and at
/// most 620. Less than one struct in four contains others, nested at most 26 deep.
pub(crate) struct Program {
    pub(crate) format: Format,
    pub(crate) structs: usize,
    pub(crate) tags: usize,
    /// True to make about one struct in twelve a union.
    pub(crate) unions: bool,
}

impl Program {
    pub(crate) fn graph(&self) -> Graph {
        let mut rng = Rng(22);
        let mut maker = Maker::new(self.format);
        for number in 0..self.structs {
            let union = self.unions && rng.one_in(12);
            self.add_struct(&mut rng, &mut maker, number, union);
        }
        // Larger structs are accessed more often.
        let mut last = 0;
        let add = |aggregate: &Aggregate| {
            last += aggregate.scalars.min(1_000);
            last
        };
        let shares: Vec<_> = maker.aggregates.iter().map(add).collect();
        // A small program may not have `self.tags` distinct tags, so the attempts are limited.
        for _ in 0..8 * self.tags {
            if maker.graph.tag_count() >= self.tags {
                break;
            }
            let at = rng.below(last as u64) as usize;
            let base = shares.partition_point(|&share| share <= at);
            maker.tag_in(&mut rng, base);
        }
        maker.graph
    }

    fn add_struct(&self, rng: &mut Rng, maker: &mut Maker, number: usize, union: bool) {
        let count = match rng.below(100) {
            0 => 1 + rng.below(620),
            1..10 => 1 + rng.below(40),
            _ => 1 + rng.below(9),
        };
        // LLVM visits a nested new-format type once per path, so a struct nests at most two.
        let mut nested = if rng.one_in(4) { 1 + rng.below(2) } else { 0 };
        let mut end = 0;
        let mut fields = Vec::new();
        for _ in 0..count {
            let mut field = (Inner::Scalar(*rng.pick(&maker.scalars)), SCALAR);
            if nested > 0 && number > 0 && rng.one_in(2) {
                // About half of the nested structs are chosen from the last 16 structs.
                let back = if rng.one_in(2) { 16.min(number) } else { number };
                let inner = number - 1 - rng.below(back as u64) as usize;
                let Aggregate { size, depth, .. } = maker.aggregates[inner];
                if depth < 26 && size < 1 << 20 {
                    nested -= 1;
                    field = (Inner::Aggregate(inner), size);
                }
            }
            let (inner, size) = field;
            fields.push((inner, if union { 0 } else { end }));
            end += size;
        }
        maker.aggregate(&format!("struct.{number}"), fields);
    }
}

/// Returns a graph with up to `tags` tags, each for a scalar `depth` structs deep. The innermost
/// struct has `fields` fields. At least 64 structs are outermost, because LLVM is fast on tags of
/// the same base type.
pub(crate) fn nested(format: Format, depth: usize, fields: usize, tags: usize) -> Graph {
    let mut maker = Maker::new(format);
    let chains = tags.div_ceil(fields).max(64);
    for chain in 0..chains {
        let scalars: Vec<_> = (0..fields)
            .map(|field| {
                let kind = maker.scalars[field % maker.scalars.len()];
                (Inner::Scalar(kind), field as u64 * SCALAR)
            })
            .collect();
        let mut top = maker.aggregate(&format!("chain.{chain}.0"), scalars.clone());
        for level in 1..depth {
            let above = vec![(Inner::Scalar(maker.scalars[0]), 0), (Inner::Aggregate(top), SCALAR)];
            top = maker.aggregate(&format!("chain.{chain}.{level}"), above);
        }
        let (base, start) = (maker.aggregates[top].ty, (depth as u64 - 1) * SCALAR);
        // Fields with tags are evenly spaced.
        let tagged = (tags / chains).clamp(1, fields);
        for &(inner, offset) in scalars.iter().step_by(fields / tagged) {
            if let Inner::Scalar(access) = inner
                && maker.graph.tag_count() < tags
            {
                maker.tag(base, access, start + offset);
            }
        }
    }
    maker.graph
}

/// Graphs that are slow or large for an implementation that lists all paths or all fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adversary {
    /// Each struct contains the one before it twice. The number of paths doubles with each struct.
    Diamonds,
    /// One struct with `n` fields, and a tag for each field.
    Wide,
    /// Each struct contains the one before it, and an `int` after it.
    Chain,
    /// Like `Chain`, but from the third struct on the `int` begins inside the contained struct.
    Crooked,
    /// From the third type on, each type is a union of an `int` and the two types before it.
    Unions,
    /// A chain of scalars, each of which has a tag.
    Scalars,
}

impl Adversary {
    pub(crate) const ALL: [(Adversary, &str); 6] = [
        (Adversary::Diamonds, "diamonds"),
        (Adversary::Wide, "wide"),
        (Adversary::Chain, "chain"),
        (Adversary::Crooked, "crooked"),
        (Adversary::Unions, "unions"),
        (Adversary::Scalars, "scalars"),
    ];

    /// Makes the graph with `n` structs, unions or scalars; for `Wide`, one struct with `n` fields.
    pub(crate) fn graph(self, format: Format, n: usize) -> Graph {
        let mut maker = Maker::new(format);
        let scalar = (Inner::Scalar(maker.scalars[2]), 0);
        if self == Adversary::Wide {
            let wide = maker.plain("wide", n, 0);
            let fields: Vec<_> = maker.graph.ty(wide).fields().collect();
            for field in fields {
                maker.tag(wide, field.ty, field.offset);
            }
            return maker.graph;
        }
        if self == Adversary::Scalars {
            let mut above = maker.scalars[2];
            for number in 0..n {
                above = maker.scalar(&format!("s.{number}"), above);
                maker.tag(above, above, 0);
            }
            return maker.graph;
        }
        maker.aggregate("s.0", vec![scalar]);
        for number in 1..n {
            let before = number - 1;
            let fields = match self {
                Adversary::Diamonds => {
                    let second = maker.aggregates[before].size.min(1 << 40);
                    vec![(Inner::Aggregate(before), 0), (Inner::Aggregate(before), second)]
                }
                Adversary::Chain => {
                    let end = maker.aggregates[before].size;
                    vec![(Inner::Aggregate(before), 0), (scalar.0, end)]
                }
                Adversary::Crooked => {
                    vec![(Inner::Aggregate(before), 0), (scalar.0, 1 << 40)]
                }
                _ => {
                    let other = before.saturating_sub(1);
                    vec![scalar, (Inner::Aggregate(other), 0), (Inner::Aggregate(before), 0)]
                }
            };
            maker.aggregate(&format!("s.{number}"), fields);
        }
        // Tags of deep types are slow, so at most 64: 32 of the outermost, and 32 spread over all.
        for number in 0..32 {
            for base in [n - 1 - number.min(n - 1), number * (n - 1) / 32] {
                let base = maker.aggregates[base].ty;
                maker.tag(base, maker.scalars[2], 0);
            }
        }
        maker.graph
    }
}

#[cfg(test)]
mod tests {
    use super::{Adversary, Format, Program, nested};
    use tbaa::wellformed::Verifier;

    fn assert_accepted(graph: &tbaa::Graph) {
        let mut verifier = Verifier::new(graph);
        assert!(graph.tags().all(|tag| verifier.check(tag).is_ok()));
    }

    #[test]
    fn graphs_are_as_asked_for() {
        for format in [Format::Old, Format::New] {
            let program = Program { format, structs: 1_000, tags: 10_000, unions: false };
            let graph = program.graph();
            assert_eq!(graph.tag_count(), 10_000);
            assert_accepted(&graph);
            for (depth, fields) in [(1, 2), (64, 2), (1, 4_096)] {
                let graph = nested(format, depth, fields, 256);
                assert_eq!(graph.tag_count(), 256, "{depth} deep, {fields} fields");
                assert_accepted(&graph);
            }
            for (adversary, name) in Adversary::ALL {
                assert!(adversary.graph(format, 100).types().count() > 13, "{name}");
            }
        }
    }
}
