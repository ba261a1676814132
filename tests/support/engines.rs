//! Compares all engines (ways to compute answers) on one graph: they must give equal answers.

use super::naive::Naive;
use super::universe::{self, Field, Type, Universe};
use tbaa::explain::{AccessPath, ByteRange, Clause, Explanation};
use tbaa::parts::Vicinity;
use tbaa::raw::{Draft, DraftOperand, RawGraph};
use tbaa::{
    Access, AliasResult, AliasRule, Format, Graph, NodeId, Operand, Oracle, Publisher, Size, TagId,
    TypeKind,
};

/// Sizes that accesses get in place of their tag's own.
const SIZES: [u64; 7] = [0, 1, 3, 4, 8, 16, u64::MAX];

/// The largest field offset for the naive definition, which adds offsets in 64 bits.
const FARTHEST: u64 = 1 << 48;

/// The most combinations of paths that the naive definition compares on one graph.
const COMPARISONS: usize = 1 << 23;

/// The most paths from a type that the naive definition lists.
const MOST_PATHS: u64 = 300;

/// The numbers of compared pairs, summed over the rules.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compared {
    pub pairs: usize,
    /// The pairs with the answer `NoAlias`.
    pub no: usize,
    /// The pairs that the naive definition answered, too.
    pub naive: usize,
    /// The ordered pairs that were also queried on a graph grown in batches.
    pub grown: usize,
}

impl Compared {
    /// Queries every engine on all pairs of `tags` by all rules, and panics where two differ.
    ///
    /// The engines are the index ([`Oracle::may_alias`]), the definition ([`Oracle::explain`]),
    /// [`Vicinity`], [`Oracle::matrix`], [`Oracle::row`], [`Oracle::classes`], a clone, a graph
    /// grown in batches and its replica. If paths are few, [`Naive`] checks all rules but `llvm`.
    pub fn every_engine(&mut self, what: &str, graph: &Graph, tags: &[TagId]) {
        let naive = universe_of(graph, tags);
        let naive = naive.as_ref().map(|(universe, tags)| (Naive::new(universe), tags));
        let mut left = COMPARISONS;
        for rule in AliasRule::ALL {
            let oracle = Oracle::new(graph, rule);
            let row = |&a| tags.iter().map(|&b| oracle.may_alias(a, b)).collect();
            let rows: Vec<Vec<bool>> = tags.iter().map(row).collect();
            let agree = |engine: &str, i: usize, j: usize, agrees: bool| {
                assert!(
                    agrees,
                    "{what}, {rule}: {engine} differs on tags {i} and {j}: {:?}: {}\n{}",
                    [i, j].map(|at| graph.tag(tags[at])),
                    oracle.explain(tags[i], tags[j]),
                    tbaa_ir::write(graph)
                );
            };
            for (i, &a) in tags.iter().enumerate() {
                for (j, &b) in tags.iter().enumerate() {
                    let may = rows[i][j];
                    agree("the same pair turned round", i, j, rows[j][i] == may && (i != j || may));
                    if j < i {
                        continue;
                    }
                    let explained = |a: Access, b: Access, may: bool| {
                        let why = oracle.explain(a, b);
                        may == (why.answer == AliasResult::MayAlias) || why.clause == Clause::Limit
                    };
                    agree("the definition", i, j, explained(a.into(), b.into(), may));
                    let [own_a, own_b] = [a, b].map(|tag| {
                        let size = graph.tag(tag).ok().and_then(|tag| tag.size);
                        Access::from(tag).with_size(size.unwrap_or(Size::Unknown))
                    });
                    let own = oracle.may_alias(own_a, own_b) == may;
                    let agrees = own || !explained(own_a, own_b, may);
                    agree("an access of the tag's own size", i, j, agrees);
                    let sized = Access::from(a).with_size(SIZES[(i + 2 * j) % SIZES.len()]);
                    let with_size = oracle.may_alias(sized, b);
                    let agrees = oracle.may_alias(b, sized) == with_size;
                    let agrees = agrees && explained(sized, b.into(), with_size);
                    agree("an access with a size", i, j, agrees);
                    let other = Access::from(b).with_size(SIZES[(2 * i + 3 * j + 1) % SIZES.len()]);
                    let both_sized = oracle.may_alias(sized, other);
                    agree("two accesses with sizes", i, j, explained(sized, other, both_sized));
                    // With `--cfg tbaa_self_check`, `most_generic` itself checks its result.
                    let generic = oracle.most_generic(a, b);
                    let is_own = i != j || rule != AliasRule::Llvm || generic == graph.tag(a).ok();
                    agree("the most generic tag", i, j, is_own);
                    let naive = naive.as_ref().filter(|_| rule != AliasRule::Llvm);
                    let expected = naive.and_then(|(naive, tags)| {
                        let (of_a, of_b) = (tags[i].as_ref()?, tags[j].as_ref()?);
                        left = left.checked_sub(3 * naive.comparisons(of_a, of_b))?;
                        let asked = [(None, None), (sized.size, None), (sized.size, other.size)];
                        let number = |size: Option<Size>| size.map(u64::from);
                        Some(asked.map(|(x, y)| {
                            let answers = naive.alias_sized((of_a, number(x)), (of_b, number(y)));
                            a == b || answers[usize::from(rule == AliasRule::UnionStrict)]
                        }))
                    });
                    let answers = [may, with_size, both_sized];
                    let agrees = expected.is_none_or(|expected| expected == answers);
                    agree("the naive definition", i, j, agrees);
                    let is_asked = rule == AliasRule::Union && expected.is_some();
                    let agrees = !is_asked || is_explained(&oracle.explain(a, b));
                    agree("the explanation", i, j, agrees);
                    self.pairs += 1;
                    self.no += usize::from(!may);
                    self.naive += usize::from(expected.is_some());
                }
            }
            let mut vicinity = Vicinity::new(&oracle);
            (0..).zip(tags).for_each(|(number, &tag)| vicinity.add(&oracle, tag, number));
            for (i, &tag) in tags.iter().enumerate() {
                let Some(near) = vicinity.of(&oracle, tag) else { continue };
                for (j, &may) in rows[i].iter().enumerate() {
                    agree("the vicinity", i, j, !may || near.binary_search(&(j as u32)).is_ok());
                }
            }
            let (matrix, classes) = (oracle.matrix(tags), oracle.classes(tags));
            let pairs = |row: usize| rows[row][row + 1..].iter().filter(|&&may| may).count();
            assert_eq!(matrix.count_may_alias(), (0..tags.len()).map(pairs).sum::<usize>());
            let class = classes.as_slice();
            assert_eq!((matrix.len(), class.len()), (tags.len(), tags.len()));
            assert_eq!([matrix.is_empty(), classes.is_empty()], [tags.is_empty(); 2]);
            // Classes are numbered in the order of their first tags.
            let first = |number| class.iter().position(|&other| other == number).unwrap() as u32;
            let firsts: Vec<_> = (0..classes.len() as u32).map(first).collect();
            assert!(firsts.is_sorted() && *classes.representatives() == firsts[..], "{firsts:?}");
            let copy = graph.clone();
            let of_copy = Oracle::new(&copy, rule);
            for (i, row) in rows.iter().enumerate() {
                agree("a row", i, i, oracle.row(tags[i], tags) == *row);
                for (j, &may) in row.iter().enumerate() {
                    let [a, b] = [i, j].map(|at| copy.tag_at(tags[at].index()).unwrap());
                    agree("the matrix", i, j, matrix.may_alias(i, j) == may);
                    agree("classes", i, j, (class[i] == class[j]) == (rows[i] == rows[j]));
                    agree("a clone", i, j, of_copy.may_alias(a, b) == may);
                }
            }
            let Some((grown, ids)) = grown(graph, rule) else { continue };
            let replica = Publisher::new(&grown).reader();
            for (i, row) in rows.iter().enumerate() {
                for (j, &may) in row.iter().enumerate() {
                    let [a, b] = [i, j].map(|at| ids[graph.tag_node(tags[at]).index()]);
                    let [a, b] = [a, b].map(|node| grown.graph().tag_of(node).unwrap());
                    let size = SIZES[(3 * i + j) % SIZES.len()];
                    let sized = |tag: TagId| Access::from(tag).with_size(size);
                    let own = oracle.may_alias(sized(tags[i]), tags[j]);
                    let answers = |oracle: &Oracle| {
                        (oracle.may_alias(a, b), oracle.may_alias(sized(a), b)) == (may, own)
                    };
                    agree("a graph grown in batches", i, j, answers(&grown));
                    agree("a replica", i, j, answers(replica.oracle()));
                    self.grown += 1;
                }
            }
        }
    }
}

/// Copies a graph's nodes and tags, a few nodes at a time, with queries after each batch. Returns
/// the copy's oracle and each node's new id. `None` if a node refers to a later one.
pub fn grown(graph: &Graph, rule: AliasRule) -> Option<(Oracle<Graph>, Vec<NodeId>)> {
    let ahead = |node: NodeId| {
        graph.operands(node).filter_map(Operand::node).any(|other| other.index() > node.index())
    };
    if graph.nodes().any(ahead) {
        return None;
    }
    let nodes: Vec<_> = graph.nodes().collect();
    let mut ids: Vec<NodeId> = Vec::new();
    let mut oracle = Oracle::new(Graph::new(), rule);
    let mut from = 0;
    for batch in [1, 2, 1, 5, 3, 8].into_iter().cycle() {
        if from == nodes.len() {
            break;
        }
        let to = (from + batch).min(nodes.len());
        oracle.update(|into| {
            for &node in &nodes[from..to] {
                copy_node(graph, node, into, &mut ids);
                if graph.tag_of(node).is_some() {
                    into.mark_tag(ids[node.index()]);
                }
            }
        });
        // The queries between batches must not affect later answers.
        let (first, last) = (oracle.graph().tags().next(), oracle.graph().tags().next_back());
        if let Some((first, last)) = first.zip(last) {
            let answer = oracle.explain(first, last);
            assert!(answer.clause == Clause::Limit || oracle.alias(first, last) == answer.answer);
        }
        from = to;
    }
    Some((oracle, ids))
}

/// Copies `node` to another graph. `ids` has the new ids of all earlier nodes, and gets this one's.
pub fn copy_node(from: &Graph, node: NodeId, to: &mut Graph, ids: &mut Vec<NodeId>) {
    let operands = from.operands(node).map(|operand| match operand {
        Operand::Node(other) if other == node => DraftOperand::Member(0),
        Operand::Node(other) => Operand::Node(ids[other.index()]).into(),
        other => other.into(),
    });
    let draft = Draft { distinct: from.is_distinct(node), operands: operands.collect() };
    ids.push(to.insert_group(&[draft]).unwrap()[0]);
}

/// Returns whether an explanation is sound: its paths are connected and start from one type, and
/// their bytes, where both are known, overlap exactly if its clause is `Overlap`.
fn is_explained(why: &Explanation) -> bool {
    let Some(comparison) = &why.comparison else { return why.clause != Clause::Limit };
    for AccessPath { steps, to_base, .. } in [&comparison.a, &comparison.b] {
        let starts = steps.first().is_none_or(|step| step.ty == comparison.base);
        let connected = steps.windows(2).all(|pair| pair[0].into == pair[1].ty);
        if !starts || !connected || *to_base > steps.len() {
            return false;
        }
    }
    let (Some(a), Some(b)) = (&comparison.a.bytes, &comparison.b.bytes) else { return true };
    let [a, b] = [a, b].map(intervals);
    let meet = a.iter().any(|one| b.iter().any(|other| one.0 < other.1 && other.0 < one.1));
    meet == (why.clause == Clause::Overlap) && (!meet || comparison.apart.is_none())
}

/// Returns the half-open byte intervals of a range; an endless array is listed for 4,000 bytes.
fn intervals(range: &ByteRange) -> Vec<(u64, u64)> {
    let mut starts = vec![range.start];
    for repeat in &range.repeats {
        let count = repeat.count.unwrap_or(4_000 / repeat.stride + 1);
        let repeated = |start| (0..count).map(move |element| start + element * repeat.stride);
        starts = starts.into_iter().flat_map(repeated).collect();
        starts.sort_unstable();
        starts.dedup();
    }
    let len = range.end.map_or(u64::MAX, |end| end - range.start);
    starts.into_iter().map(|start| (start, start.saturating_add(len))).collect()
}

/// Returns types and tags as plain data; `None` for types, or for a tag, that [`Naive`] lacks.
fn universe_of(graph: &Graph, tags: &[TagId]) -> Option<(Universe, Vec<Option<universe::Tag>>)> {
    let mut place = vec![None; graph.node_count()];
    let mut types = Vec::new();
    let mut paths: Vec<u64> = Vec::new();
    let sized = graph.types().any(|ty| graph.ty(ty).format() == Format::New);
    for ty in graph.types() {
        let node = graph.ty(ty);
        let (kind, format) = (node.kind(), node.format());
        let root = kind == TypeKind::Root;
        if kind == TypeKind::Malformed || !root && sized != (format == Format::New) {
            return None;
        }
        let scalar = kind == TypeKind::Scalar;
        let parent = match node.parent().filter(|_| !root && (sized || scalar)) {
            Some(parent) => Some(place[parent.node().index()]?),
            None => None,
        };
        let (mut fields, mut count) = (Vec::new(), 1_u64);
        // The naive definition needs ascending offsets.
        let mut last = 0;
        for field in node.fields().filter(|_| !scalar && !root) {
            let inner = place[field.ty.node().index()]?;
            let size = graph.ty(field.ty).size().unwrap_or(0);
            let extent = field.extent.unwrap_or(0);
            let elements = if size == 0 { 1 } else { extent.div_ceil(size).max(1) };
            let elements = if extent == 0 && size > 0 { 40 } else { elements };
            count = count.saturating_add(elements.saturating_mul(paths[inner]));
            fields.push(Field { ty: inner, offset: field.offset, extent });
            let far = field.offset > FARTHEST;
            if field.offset < last || far || graph.ty(field.ty).kind() == TypeKind::Root {
                return None;
            }
            last = field.offset;
        }
        place[ty.node().index()] = Some(types.len());
        paths.push(count);
        // A type with more than `MOST_PATHS` paths needs no fields: its tags are not compared.
        fields.truncate(if count > MOST_PATHS { 0 } else { fields.len() });
        types.push(Type {
            name: String::from_utf8_lossy(node.name().unwrap_or(b"")).into_owned(),
            parent,
            size: node.size().unwrap_or(0),
            fields,
            root,
            brief: !sized && scalar && graph.operand_count(ty.node()) == 2,
        });
    }
    let tags = tags.iter().map(|&tag| {
        let parts = graph.tag(tag).ok()?;
        let [base, access] = [parts.base, parts.access].map(|ty| place[ty.node().index()]);
        let (base, access, size) = (base?, access?, parts.size.map_or(0, u64::from));
        let is_small = paths[base].max(paths[access]) <= MOST_PATHS;
        let fits = is_small && sized == (parts.format == Format::New);
        fits.then_some(universe::Tag { base, access, offset: parts.offset, size })
    });
    let tags = tags.collect();
    Some((Universe { sized, types, tags: Vec::new() }, tags))
}

/// Returns, for each rule, whether the tags of each ordered pair may alias.
pub fn answers(graph: &Graph, tags: &[TagId]) -> Vec<bool> {
    let by_rule = |rule| {
        let oracle = Oracle::new(graph, rule);
        tags.iter().flat_map(|&a| oracle.row(a, tags)).collect::<Vec<_>>()
    };
    AliasRule::ALL.into_iter().flat_map(by_rule).collect()
}
