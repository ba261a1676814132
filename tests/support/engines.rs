//! Compares all engines on one graph: their answers must be equal.

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

/// The naive definition adds offsets in 64 bits.
const FARTHEST: u64 = 1 << 48;

/// Paths that the naive definition compares on one graph.
const COMPARISONS: usize = 1 << 23;

/// Paths from a type that the naive definition lists.
const MOST_PATHS: u64 = 300;

/// The number of comparisons.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compared {
    pub pairs: usize,
    /// The `NoAlias` answers among them.
    pub no: usize,
    /// Answers of the naive definition.
    pub naive: usize,
    /// Answers of graphs grown in batches.
    pub grown: usize,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.no += other.no;
        self.naive += other.naive;
        self.grown += other.grown;
    }
}

/// Queries every engine on all pairs of some tags by all rules, and returns where two differ.
///
/// The engines are the index (`alias`), the definition (`explain`), accesses with sizes, matrix and
/// rows, classes, a clone, a graph grown in batches (`update`), and for few well-formed types the
/// naive definition.
pub fn every_engine(graph: &Graph, tags: &[TagId]) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let naive = universe_of(graph, tags);
    let naive = naive.as_ref().map(|(universe, tags)| (Naive::new(universe), tags));
    let mut left = COMPARISONS;
    for rule in AliasRule::ALL {
        let oracle = Oracle::new(graph, rule);
        let rows: Vec<Vec<bool>> =
            tags.iter().map(|&a| tags.iter().map(|&b| oracle.may_alias(a, b)).collect()).collect();
        let differs = |engine: &str, i: usize, j: usize| {
            let [a, b] = [tags[i], tags[j]].map(|tag| graph.tag(tag));
            let why = oracle.explain(tags[i], tags[j]);
            Err(format!("{rule}: {engine} differs on tags {i} and {j}: {a:?}, {b:?}: {why}"))
        };
        for (i, &a) in tags.iter().enumerate() {
            for (j, &b) in tags.iter().enumerate() {
                let may = rows[i][j];
                if rows[j][i] != may || (i == j && !may) {
                    return differs("the same pair turned round", i, j);
                }
                if j < i {
                    continue;
                }
                let agrees = |a: Access, b: Access, may: bool| {
                    let why = oracle.explain(a, b);
                    may == (why.answer == AliasResult::MayAlias) || why.clause == Clause::Limit
                };
                if !agrees(a.into(), b.into(), may) {
                    return differs("the definition", i, j);
                }
                let own = |tag: TagId| {
                    let size = graph.tag(tag).ok().and_then(|tag| tag.size);
                    Access::from(tag).with_size(size.unwrap_or(Size::Unknown))
                };
                if oracle.may_alias(own(a), own(b)) != may && agrees(own(a), own(b), may) {
                    return differs("an access of the tag's own size", i, j);
                }
                let sized = Access::from(a).with_size(SIZES[(i + 2 * j) % SIZES.len()]);
                let with_size = oracle.may_alias(sized, b);
                if oracle.may_alias(b, sized) != with_size || !agrees(sized, b.into(), with_size) {
                    return differs("an access with a size", i, j);
                }
                let other = Access::from(b).with_size(SIZES[(2 * i + 3 * j + 1) % SIZES.len()]);
                let both_sized = oracle.may_alias(sized, other);
                if !agrees(sized, other, both_sized) {
                    return differs("two accesses with sizes", i, j);
                }
                // `--cfg tbaa_self_check` compares it with the definition.
                let generic = oracle.most_generic(a, b);
                if i == j && rule == AliasRule::Llvm && generic != graph.tag(a).ok() {
                    return differs("the most generic tag", i, j);
                }
                let expected = naive.as_ref().and_then(|(naive, tags)| {
                    let (of_a, of_b) = (tags[i].as_ref()?, tags[j].as_ref()?);
                    left = left.checked_sub(3 * naive.comparisons(of_a, of_b))?;
                    let asked = [(None, None), (sized.size, None), (sized.size, other.size)];
                    let number = |size: Option<Size>| size.map(u64::from);
                    let said =
                        asked.map(|(x, y)| naive.alias_sized((of_a, number(x)), (of_b, number(y))));
                    match rule {
                        AliasRule::Union => Some(said.map(|answer| answer.union || a == b)),
                        AliasRule::UnionStrict => Some(said.map(|answer| answer.strict || a == b)),
                        _ => None,
                    }
                });
                if expected.is_some_and(|expected| expected != [may, with_size, both_sized]) {
                    return differs("the naive definition", i, j);
                }
                if rule == AliasRule::Union
                    && expected.is_some()
                    && !is_explained(&oracle.explain(a, b))
                {
                    return differs("the explanation", i, j);
                }
                compared.pairs += 1;
                compared.no += usize::from(!may);
                compared.naive += usize::from(expected.is_some());
            }
        }
        let mut vicinity = Vicinity::new(&oracle);
        (0..).zip(tags).for_each(|(number, &tag)| vicinity.add(&oracle, tag, number));
        for (i, &tag) in tags.iter().enumerate() {
            let Some(near) = vicinity.of(&oracle, tag) else { continue };
            let missed = |&j: &usize| rows[i][j] && near.binary_search(&(j as u32)).is_err();
            if let Some(j) = (0..tags.len()).find(missed) {
                return differs("the vicinity", i, j);
            }
        }
        let (matrix, classes) = (oracle.matrix(tags), oracle.classes(tags));
        let pairs = |row: usize| rows[row][row + 1..].iter().filter(|&&may| may).count();
        assert_eq!(matrix.count_may_alias(), (0..tags.len()).map(pairs).sum::<usize>());
        assert_eq!((matrix.len(), classes.as_slice().len()), (tags.len(), tags.len()));
        assert_eq!([matrix.is_empty(), classes.is_empty()], [tags.is_empty(); 2]);
        // Classes are numbered by their first tags.
        let first = |class: usize| classes.as_slice().iter().position(|&it| it as usize == class);
        let firsts: Vec<_> = (0..classes.len()).map(|class| first(class).unwrap() as u32).collect();
        assert!(firsts.is_sorted() && *classes.representatives() == firsts[..], "{firsts:?}");
        let copy = graph.clone();
        let of_copy = Oracle::new(&copy, rule);
        for (i, row) in rows.iter().enumerate() {
            if oracle.row(tags[i], tags) != *row {
                return differs("a row", i, i);
            }
            for (j, &may) in row.iter().enumerate() {
                let [a, b] = [i, j].map(|at| copy.tag_at(tags[at].index()).unwrap());
                let alike = classes.as_slice()[i] == classes.as_slice()[j];
                for (engine, agrees) in [
                    ("the matrix", matrix.may_alias(i, j) == may),
                    ("classes", alike == (rows[i] == rows[j])),
                    ("a clone", of_copy.may_alias(a, b) == may),
                ] {
                    if !agrees {
                        return differs(engine, i, j);
                    }
                }
            }
        }
        if let Some((grown, ids)) = grown(graph, rule) {
            let replica = Publisher::new(&grown).reader();
            for (i, row) in rows.iter().enumerate() {
                for (j, &may) in row.iter().enumerate() {
                    let [a, b] = [i, j].map(|at| ids[graph.tag_node(tags[at]).index()]);
                    let [a, b] = [a, b].map(|node| grown.graph().tag_of(node).unwrap());
                    let size = SIZES[(3 * i + j) % SIZES.len()];
                    let sized = |tag: TagId| Access::from(tag).with_size(size);
                    let own = oracle.may_alias(sized(tags[i]), tags[j]);
                    for (engine, other) in
                        [("a graph grown in batches", &grown), ("a replica", replica.oracle())]
                    {
                        if other.may_alias(a, b) != may || other.may_alias(sized(a), b) != own {
                            return differs(engine, i, j);
                        }
                    }
                    compared.grown += 1;
                }
            }
        }
    }
    Ok(compared)
}

/// Returns an equal graph, added a few nodes at a time and queried after each batch, and each
/// node's id. `None` if types form cycles.
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
        // The questions between batches must not show in later answers.
        let (first, last) = (oracle.graph().tags().next(), oracle.graph().tags().next_back());
        if let Some((first, last)) = first.zip(last) {
            let answer = oracle.explain(first, last);
            assert!(answer.clause == Clause::Limit || oracle.alias(first, last) == answer.answer);
        }
        from = to;
    }
    Some((oracle, ids))
}

/// Adds a graph's next node to another graph; `ids` are the new ids of the earlier nodes.
pub fn copy_node(from: &Graph, node: NodeId, to: &mut Graph, ids: &mut Vec<NodeId>) {
    let operands = from.operands(node).map(|operand| match operand {
        Operand::Node(other) if other == node => DraftOperand::Member(0),
        Operand::Node(other) => Operand::Node(ids[other.index()]).into(),
        other => other.into(),
    });
    let draft = Draft { distinct: from.is_distinct(node), operands: operands.collect() };
    ids.push(to.insert_group(&[draft]).unwrap()[0]);
}

/// Returns whether the steps sufficed, and the shown paths are connected, start from one type, and
/// have bytes that meet or not as the clause of rule `union` says.
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

/// The intervals of a range; of a flexible array's, those not too far out.
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

/// Returns the graph's types as plain data, and its tags, if the naive definition can answer for
/// them: one format, complete operands, and not too many paths.
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
        let parent = node.parent().filter(|_| !root && (sized || scalar));
        let parent = match parent {
            Some(parent) => Some(place[parent.node().index()]?),
            None => None,
        };
        let (mut fields, mut count) = (Vec::new(), 1_u64);
        // Descending offsets are for the verifier.
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
        // No tag starts at a type that is too large to list.
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
        let (base, access) =
            (place[parts.base.node().index()]?, place[parts.access.node().index()]?);
        let fits =
            sized == (parts.format == Format::New) && paths[base].max(paths[access]) <= MOST_PATHS;
        let size = parts.size.map_or(0, u64::from);
        fits.then_some(universe::Tag { base, access, offset: parts.offset, size })
    });
    let tags = tags.collect();
    Some((Universe { sized, types, tags: Vec::new() }, tags))
}

/// The answers to all pairs of tags, by all rules.
pub fn answers(graph: &Graph, tags: &[TagId]) -> Vec<bool> {
    let mut answers = Vec::new();
    for rule in AliasRule::ALL {
        let oracle = Oracle::new(graph, rule);
        for &a in tags {
            answers.extend(tags.iter().map(|&b| oracle.may_alias(a, b)));
        }
    }
    answers
}
