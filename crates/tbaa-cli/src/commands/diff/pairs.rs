//! Finds the pairs of accesses in one function for which two builds give different answers.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Serialize;

use super::align::align;
use super::build::{Build, BuildAccess, Function, Key};

/// Counts of functions, of accesses and of pairs of accesses. A and B are the two builds.
#[derive(Serialize, Default)]
pub(super) struct Counts {
    /// Functions that both builds have.
    pub(super) functions: usize,
    pub(super) functions_only_a: usize,
    pub(super) functions_only_b: usize,
    /// Accesses that have a counterpart in the other build.
    pub(super) accesses: u64,
    pub(super) accesses_only_a: u64,
    pub(super) accesses_only_b: u64,
    pub(super) pairs: u64,
    /// Pairs that are NoAlias in A and MayAlias in B.
    pub(super) lost: Count,
    /// Pairs that are MayAlias in A and NoAlias in B.
    pub(super) gained: Count,
}

/// The number of pairs, and of pairs with a write. Two reads may be reordered whatever their tags.
#[derive(Serialize, Default, Clone, Copy)]
pub(super) struct Count {
    pub(super) pairs: u64,
    pub(super) with_a_write: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.pairs += other.pairs;
        self.with_a_write += other.with_a_write;
    }
}

#[derive(Serialize, Default)]
pub(super) struct Changes {
    pub(super) function: String,
    pub(super) lost: Count,
    pub(super) gained: Count,
    /// Pairs with different answers, in an entry for each combination of tags; largest entry first.
    pub(super) pairs: Vec<Pair>,
}

/// Pairs of accesses with the same two tags in A, and the same two tags in B.
#[derive(Serialize)]
pub(super) struct Pair {
    /// True if A answers NoAlias and B MayAlias, false for the reverse.
    pub(super) lost: bool,
    pub(super) count: Count,
    /// An example of such a pair: its first access.
    pub(super) first: MatchedAccess,
    pub(super) second: MatchedAccess,
}

/// An access with its description in both builds.
#[derive(Serialize)]
pub(super) struct MatchedAccess {
    pub(super) place: String,
    pub(super) a: String,
    pub(super) b: String,
}

/// Accesses with equal tags in A and equal tags in B, as indices into the matched accesses.
#[derive(Default)]
struct SameTags {
    writes: Vec<usize>,
    reads: Vec<usize>,
}

impl SameTags {
    fn len(&self) -> u64 {
        (self.writes.len() + self.reads.len()) as u64
    }

    /// Returns an access of `self` and one of `other`, or two of `self` if `same`. Prefers writes.
    fn example(&self, other: &SameTags, same: bool) -> (usize, usize) {
        let [a, b] = [self, other].map(|kind| [&kind.writes[..], &kind.reads].concat());
        if same { (a[0], a[1]) } else { (a[0], b[0]) }
    }
}

type Matched<'a> = (BuildAccess<'a>, BuildAccess<'a>);

pub(super) fn compare(a: &Build<'_>, b: &Build<'_>) -> (Counts, Vec<Changes>) {
    let mut of_b: HashMap<&[u8], &Function<'_>> = HashMap::new();
    for function in &b.functions {
        of_b.entry(function.symbol).or_insert(function);
    }
    let (mut counts, mut found) = (Counts::default(), Vec::new());
    for function in &a.functions {
        let Some(other) = of_b.remove(function.symbol) else {
            counts.functions_only_a += 1;
            continue;
        };
        counts.functions += 1;
        let (keys_a, keys_b) = (keys(function), keys(other));
        let pairs = align(&keys_a, &keys_b).into_iter();
        let matched: Vec<Matched<'_>> =
            pairs.map(|(x, y)| (function.accesses[x], other.accesses[y])).collect();
        counts.accesses += matched.len() as u64;
        counts.accesses_only_a += (keys_a.len() - matched.len()) as u64;
        counts.accesses_only_b += (keys_b.len() - matched.len()) as u64;
        let changes = changes(a, b, &function.name, &matched, &mut counts);
        if !changes.pairs.is_empty() {
            found.push(changes);
        }
    }
    counts.functions_only_b = of_b.len();
    (counts, found)
}

fn keys<'a>(function: &Function<'a>) -> Vec<Key<'a>> {
    function.accesses.iter().map(|access| access.key).collect()
}

fn changes(
    a: &Build<'_>,
    b: &Build<'_>,
    function: &str,
    matched: &[Matched<'_>],
    counts: &mut Counts,
) -> Changes {
    let kinds = kinds(matched);
    let mut changes = Changes { function: function.to_owned(), ..Changes::default() };
    for (x, (tags, kind)) in kinds.iter().enumerate() {
        for (y, (others, other)) in kinds.iter().enumerate().skip(x) {
            let count = count(kind, other, x == y);
            counts.pairs += count.pairs;
            let before = a.oracle.may_alias(tags.0, others.0);
            let after = b.oracle.may_alias(tags.1, others.1);
            if before == after || count.pairs == 0 {
                continue;
            }
            let lost = after;
            let (of_function, of_all) = match lost {
                true => (&mut changes.lost, &mut counts.lost),
                false => (&mut changes.gained, &mut counts.gained),
            };
            of_function.add(count);
            of_all.add(count);
            let place = |at: usize| {
                let (in_a, in_b) = &matched[at];
                MatchedAccess { place: a.place(in_a), a: a.words(in_a), b: b.words(in_b) }
            };
            let (first, second) = kind.example(other, x == y);
            let (first, second) = (place(first), place(second));
            changes.pairs.push(Pair { lost, count, first, second });
        }
    }
    // The sort is stable: entries with equal counts stay in order.
    changes.pairs.sort_by_key(|pair| std::cmp::Reverse(pair.count.pairs));
    changes
}

type TagPair = (Option<tbaa::TagId>, Option<tbaa::TagId>);

fn kinds(matched: &[Matched<'_>]) -> IndexMap<TagPair, SameTags> {
    let mut kinds: IndexMap<TagPair, SameTags> = IndexMap::new();
    for (index, (a, b)) in matched.iter().enumerate() {
        let kind = kinds.entry((a.tag, b.tag)).or_default();
        let list = if a.writes { &mut kind.writes } else { &mut kind.reads };
        list.push(index);
    }
    kinds
}

fn count(kind: &SameTags, other: &SameTags, same: bool) -> Count {
    let both = |x: u64, y: u64| if same { x * x.saturating_sub(1) / 2 } else { x * y };
    let pairs = both(kind.len(), other.len());
    let reads = both(kind.reads.len() as u64, other.reads.len() as u64);
    Count { pairs, with_a_write: pairs - reads }
}
