//! Computes the report's answers for all pairs of tags by all rules, with the reasons.

use std::collections::HashMap;

use indexmap::IndexSet;
use serde::Serialize;
use tbaa::explain::{AccessPath, ByteRange, Clause, Comparison, Side};
use tbaa::{AliasRule, Graph, Matrix, Oracle, TagId, TypeId};

use crate::output::letter;

/// The largest number of comparisons of paths for one input.
const COMPARISONS: usize = 6000;
/// The largest number of listed pairs on which the rules differ.
const DIFFERING: usize = 200;

#[derive(Serialize)]
pub(super) struct Answers {
    rules: [String; 3],
    /// The answers of each rule, `M` or `N`, in the form that [`triangle`] writes.
    answers: Vec<String>,
    /// The number of tags whose pairs with each other the page explains.
    pub(super) explained: usize,
    explained_tags: Vec<usize>,
    /// The meanings of the letters of `reasons`, from A on.
    clauses: Vec<String>,
    /// For each rule, the letters of the deciding clauses, for pairs of explained tags.
    reasons: Vec<String>,
    comparisons: Vec<Compared>,
    /// The number of pairs of different tags for which each rule answers MayAlias.
    may_alias: [u64; 3],
    pairs: u64,
    /// The number of pairs on which the rules differ. `differing` lists the first ones.
    differ: u64,
    differing: Vec<(usize, usize)>,
}

/// A comparison of the paths of tags `a` and `b`. `rules` has a bit for each rule that makes it.
/// If `from_b`, both paths start at `b`'s base type, otherwise at `a`'s.
#[derive(Serialize)]
struct Compared {
    a: usize,
    b: usize,
    rules: u8,
    from_b: bool,
    steps: [Vec<usize>; 2],
    bytes: [Option<Bytes>; 2],
    apart: Option<String>,
}

/// A range's start, its end if it has one, and for each array the stride and the count of elements.
type Bytes = (u64, Option<u64>, Vec<(u64, Option<u64>)>);

impl Answers {
    pub(super) fn of(
        graph: &Graph,
        tags: &[TagId],
        uses: &[u64],
        place: &HashMap<TypeId, usize>,
        explained: usize,
    ) -> Answers {
        let oracles = AliasRule::ALL.map(|rules| Oracle::new(graph, rules));
        let matrices = [0, 1, 2].map(|rule: usize| oracles[rule].matrix(tags));
        let triangle_of =
            |matrix: &Matrix| triangle(tags.len(), |a, b| letter(matrix.may_alias(a, b)));
        let len = tags.len() as u64;
        let (differ, differing) = differing(&matrices);
        // Explain the most used tags, in the order of the matrix.
        let mut chosen: Vec<usize> = (0..tags.len()).collect();
        chosen.sort_by_key(|&at| std::cmp::Reverse(uses[at]));
        chosen.truncate(explained);
        chosen.sort_unstable();
        let (clauses, comparisons, last) = Default::default();
        let mut reasons = Reasons { graph, place, clauses, comparisons, last };
        let related = Related::of(graph, chosen.iter().map(|&at| tags[at]));
        let mut reasons_by = |rule: usize| {
            triangle(chosen.len(), |row, column| {
                let (a, b) = (chosen[row], chosen[column]);
                let pair = (tags[a], tags[b]);
                // Neither base type leads to the other, so the reason is known already.
                if !matrices[rule].may_alias(a, b) && !related.may_meet(graph, pair.0, pair.1) {
                    return reasons.clause(Clause::Unrelated);
                }
                let why = oracles[rule].explain(pair.0, pair.1);
                if let Some(found) = &why.comparison {
                    reasons.comparison((a, b), pair, rule, found);
                }
                reasons.clause(why.clause)
            })
        };
        let letters = (0..3).map(&mut reasons_by).collect();
        Answers {
            rules: AliasRule::ALL.map(|rules| rules.to_string()),
            answers: matrices.iter().map(triangle_of).collect(),
            explained: chosen.len(),
            explained_tags: if chosen.len() == tags.len() { Vec::new() } else { chosen },
            clauses: reasons.clauses.iter().map(Clause::to_string).collect(),
            reasons: letters,
            comparisons: reasons.comparisons,
            may_alias: matrices.map(|matrix| matrix.count_may_alias() as u64),
            pairs: len * len.saturating_sub(1) / 2,
            differ,
            differing,
        }
    }
}

fn differing(matrices: &[Matrix; 3]) -> (u64, Vec<(usize, usize)>) {
    let (mut count, mut list) = (0, Vec::new());
    let len = matrices[0].len();
    for (a, b) in (0..len).flat_map(|a| (a + 1..len).map(move |b| (a, b))) {
        let [llvm, union, strict] = matrices.each_ref().map(|matrix| matrix.may_alias(a, b));
        if llvm != union || union != strict {
            count += 1;
            if list.len() < DIFFERING {
                list.push((a, b));
            }
        }
    }
    (count, list)
}

struct Reasons<'a> {
    graph: &'a Graph,
    place: &'a HashMap<TypeId, usize>,
    clauses: IndexSet<Clause>,
    comparisons: Vec<Compared>,
    /// The index in `comparisons` of the last comparison of each pair.
    last: HashMap<(usize, usize), usize>,
}

impl Reasons<'_> {
    fn clause(&mut self, wanted: Clause) -> u8 {
        let (at, _) = self.clauses.insert_full(wanted);
        // There are fewer clauses than letters.
        b'A' + u8::try_from(at).unwrap_or(25).min(25)
    }

    fn comparison(
        &mut self,
        (a, b): (usize, usize),
        tags: (TagId, TagId),
        rule: usize,
        found: &Comparison,
    ) {
        let from_b = found.outer == Side::B;
        let base = self.graph.tag(if from_b { tags.1 } else { tags.0 }).map(|tag| tag.base);
        if base.is_ok_and(|base| !self.place.contains_key(&base)) {
            return;
        }
        let steps = |path: &AccessPath| path.steps.iter().map(|step| step.field).collect();
        let bytes = |path: &AccessPath| path.bytes.as_ref().map(bytes);
        let compared = Compared {
            a,
            b,
            rules: 1 << rule,
            from_b,
            steps: [steps(&found.a), steps(&found.b)],
            bytes: [bytes(&found.a), bytes(&found.b)],
            apart: found.apart.as_ref().map(ToString::to_string),
        };
        // Several rules may compare the same paths: store these once.
        let same = |other: &Compared| {
            other.from_b == from_b
                && (&other.steps, &other.bytes) == (&compared.steps, &compared.bytes)
        };
        match self.last.get(&(a, b)) {
            Some(&at) if same(&self.comparisons[at]) => self.comparisons[at].rules |= 1 << rule,
            _ if self.comparisons.len() < COMPARISONS => {
                self.last.insert((a, b), self.comparisons.len());
                self.comparisons.push(compared);
            }
            _ => {}
        }
    }
}

fn bytes(range: &ByteRange) -> Bytes {
    let repeats = range.repeats.iter().map(|repeat| (repeat.stride, repeat.count)).collect();
    (range.start, range.end, repeats)
}

/// The types that can be reached from given types through fields and parents.
struct Related {
    /// For each starting type, a bit for each node: set if it can be reached.
    reached: HashMap<TypeId, Vec<u64>>,
}

impl Related {
    /// Computes the types that can be reached from the base types of some tags.
    fn of(graph: &Graph, tags: impl Iterator<Item = TagId>) -> Related {
        let mut reached = HashMap::new();
        for base in tags.filter_map(|tag| graph.tag(tag).ok()).map(|tag| tag.base) {
            reached.entry(base).or_insert_with(|| reach(graph, base));
        }
        Related { reached }
    }

    /// Returns whether either base type may lead to the other. If in doubt, returns true.
    fn may_meet(&self, graph: &Graph, a: TagId, b: TagId) -> bool {
        let (Ok(a), Ok(b)) = (graph.tag(a), graph.tag(b)) else { return true };
        let leads = |from: TypeId, to: TypeId| {
            let at = to.node().index();
            self.reached.get(&from).is_none_or(|bits| bits[at / 64] >> (at % 64) & 1 != 0)
        };
        leads(a.base, b.base) || leads(b.base, a.base)
    }
}

fn reach(graph: &Graph, base: TypeId) -> Vec<u64> {
    let mut bits = vec![0; graph.node_count().div_ceil(64)];
    let mut pending = vec![base];
    while let Some(ty) = pending.pop() {
        let (at, node) = (ty.node().index(), graph.ty(ty));
        if bits[at / 64] >> (at % 64) & 1 != 0 {
            continue;
        }
        bits[at / 64] |= 1 << (at % 64);
        pending.extend(node.fields().map(|field| field.ty).chain(node.parent()));
    }
    bits
}

/// Writes the upper triangle of a matrix, without the diagonal. Commas separate the rows. A run of
/// equal letters is the letter and its count in base 36. The last run of a row has no count.
fn triangle(side: usize, mut letter: impl FnMut(usize, usize) -> u8) -> String {
    let mut text = String::new();
    for row in 0..side {
        if row > 0 {
            text.push(',');
        }
        let letters: Vec<u8> = (row + 1..side).map(|column| letter(row, column)).collect();
        let mut runs = letters.chunk_by(|a, b| a == b).peekable();
        while let Some(run) = runs.next() {
            // Letters are capitals, and digits in base 36 are not.
            debug_assert!(run[0].is_ascii_uppercase());
            text.push(char::from(run[0]));
            if runs.peek().is_some() {
                push_length(&mut text, run.len());
            }
        }
    }
    text
}

/// Appends a length in base 36; nothing for 0.
fn push_length(text: &mut String, length: usize) {
    if length > 0 {
        push_length(text, length / 36);
        text.push(char::from(b"0123456789abcdefghijklmnopqrstuvwxyz"[length % 36]));
    }
}

#[cfg(test)]
mod tests {
    use super::{AliasRule, Related, triangle};
    use tbaa::Oracle;
    use tbaa::explain::Clause;
    use tbaa::spec::Spec;

    #[test]
    fn what_is_not_related_is_told_apart_for_that_reason() {
        let (mut all, mut quick) = (0, 0);
        for text in [
            include_str!("../../../specs/ravi.ron"),
            include_str!("../../../specs/rfc-2017.ron"),
            include_str!("../../../specs/unions.ron"),
            include_str!("../../../specs/clang-c-new.ron"),
        ] {
            let built = Spec::load(text).unwrap();
            let graph = built.graph();
            let related = Related::of(graph, graph.tags());
            for oracle in AliasRule::ALL.map(|rules| Oracle::new(graph, rules)) {
                for (a, b) in graph.tags().flat_map(|a| graph.tags().map(move |b| (a, b))) {
                    all += 1;
                    if !oracle.may_alias(a, b) && !related.may_meet(graph, a, b) {
                        quick += 1;
                        assert_eq!(oracle.explain(a, b).clause, Clause::Unrelated);
                    }
                }
            }
        }
        assert!(quick * 3 > all, "{quick} of {all}");
    }

    #[test]
    fn rows_are_short() {
        assert_eq!(triangle(0, |_, _| b'M'), "");
        assert_eq!(triangle(3, |_, _| b'N'), "N,N,");
        let letter = |row: usize, column: usize| if column == row + 1 { b'M' } else { b'N' };
        assert_eq!(triangle(4, letter), "M1N,M1N,M,");
        assert_eq!(
            triangle(100, |row, column| if row == 0 && column == 99 { b'M' } else { b'N' })
                .split_once(',')
                .unwrap()
                .0,
            "N2qM"
        );
    }
}
