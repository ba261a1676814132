//! Measures queries on the tags of graphs: by this library, by LLVM and by simpler methods.

use std::ops::Range;
use std::thread;
use std::time::Duration;

use tbaa::wellformed::Verifier;
use tbaa::{Access, AliasRule, Graph, Oracle, TagId};

use crate::llvm::LlvmModule;
use crate::sample::{Contender, Race, Sampler, time};
use tbaa_tests::Rng;

/// Returns the number of pairs that may alias.
pub(crate) fn ask(oracle: &Oracle<&Graph>, pairs: &[(TagId, TagId)]) -> usize {
    pairs.iter().filter(|&&(a, b)| oracle.may_alias(a, b)).count()
}

/// Like [`ask`], but each access has an explicit size of 8 bytes.
fn ask_sized(oracle: &Oracle<&Graph>, pairs: &[(TagId, TagId)]) -> usize {
    let sized = |tag: TagId| Access::from(tag).with_size(8);
    pairs.iter().filter(|&&(a, b)| oracle.may_alias(sized(a), sized(b))).count()
}

/// Returns the number of pairs whose masks share a bit. A pair holds two indices into `masks`.
fn ask_masks(masks: &[u64], pairs: &[[u32; 2]]) -> usize {
    pairs.iter().filter(|&&[a, b]| masks[a as usize] & masks[b as usize] != 0).count()
}

/// The hardware lower bound: reads two 16-byte records for each pair, and compares the first two
/// numbers of each as the bounds of an interval. Returns how many pairs overlap.
fn compare_records(records: &[[u32; 4]], pairs: &[[u32; 2]]) -> usize {
    let meet = |&[a, b]: &[u32; 2]| {
        let (a, b) = (&records[a as usize], &records[b as usize]);
        usize::from((a[0] < b[1]) & (b[0] < a[1]))
    };
    pairs.iter().map(meet).sum()
}

fn generic(oracle: &Oracle<&Graph>, pairs: &[(TagId, TagId)]) -> usize {
    pairs.iter().filter(|&&(a, b)| oracle.most_generic(a, b).is_some()).count()
}

/// The bounds, in a full run, on the number of queries in a window (queries timed as a whole). The
/// number doubles from the lower bound until a window takes about [`WINDOW_TIME`].
const WINDOW: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;
/// The approximate duration of a window with fewer queries than the upper bound.
const WINDOW_TIME: Duration = Duration::from_millis(2);

/// Random pairs of tags. Each window uses the next pairs; after the last pair comes the first.
pub(crate) struct Pairs {
    /// The pairs, as indices into the list of tags.
    numbers: Vec<[u32; 2]>,
    tags: Vec<(TagId, TagId)>,
    /// The divisor of the window sizes: 32 in a quick run, otherwise 1.
    shrink: usize,
}

impl Pairs {
    pub(crate) fn random(tags: &[TagId], quick: bool) -> Pairs {
        let mut rng = Rng(4);
        let count = (2 * tags.len()).next_power_of_two().clamp(2 * WINDOW.end(), 1 << 20);
        let shrink = if quick { 32 } else { 1 };
        let mut number = || rng.below(tags.len() as u64) as u32;
        let numbers: Vec<_> = (0..count).map(|_| [number(), number()]).collect();
        let pair = |&[a, b]: &[u32; 2]| (tags[a as usize], tags[b as usize]);
        let tags: Vec<_> = numbers.iter().map(pair).collect();
        Pairs { numbers, tags, shrink }
    }

    pub(crate) fn tags(&self) -> &[(TagId, TagId)] {
        &self.tags
    }

    /// Returns a contender (code to measure): each sample runs two windows, and times the second.
    fn windows<'a>(
        &self,
        name: impl Into<String>,
        mut ask: impl FnMut(Range<usize>) -> usize + 'a,
    ) -> Contender<'a> {
        let (mut size, mut took) = (*WINDOW.start(), Duration::ZERO);
        while size < *WINDOW.end() && took < WINDOW_TIME / 2 {
            took = time(|| ask(0..size)).0;
            size *= 2;
        }
        let (count, size, mut at) = (self.numbers.len(), size / self.shrink, 0);
        Contender::new(name, size, move || {
            let mut window = || {
                let from = at;
                at = (at + size) % count;
                from..from + size
            };
            std::hint::black_box(ask(window()));
            let counted = window();
            time(|| ask(counted)).0
        })
    }
}

/// A graph, its tags that are queried, and the same graph as LLVM has read it.
pub(crate) struct Subject<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) tags: Vec<TagId>,
    pub(crate) llvm: Option<LlvmModule<'a>>,
}

impl<'a> Subject<'a> {
    /// If `llvm` is given, panics if it has more or fewer tags than `tags`, or if [`Verifier`]
    /// rejects one of `tags`. The caller ensures that the tags of `llvm` have the same order.
    pub(crate) fn new(graph: &'a Graph, tags: Vec<TagId>, llvm: Option<LlvmModule<'a>>) -> Self {
        let mut llvm = llvm;
        if let Some(llvm) = &mut llvm {
            assert_eq!(llvm.tags(), tags.len(), "LLVM finds another number of tags");
            let mut verifier = Verifier::new(graph);
            let rejected = tags.iter().find(|&&tag| verifier.check(tag).is_err());
            assert_eq!(rejected, None, "a tag on which LLVM may crash");
        }
        Subject { graph, tags, llvm }
    }

    pub(crate) fn race(&mut self, sampler: &mut Sampler, id: &str) -> Race {
        let pairs = Pairs::random(&self.tags, sampler.quick);
        let ours = Oracle::new(self.graph, AliasRule::Llvm);
        self.compare(&ours, &pairs);
        let mut rng = Rng(5);
        let records: Vec<_> = self.tags.iter().map(|_| [0; 4].map(|_| rng.next() as u32)).collect();
        let union = Oracle::new(self.graph, AliasRule::Union);
        let strict = Oracle::new(self.graph, AliasRule::UnionStrict);

        // Exact and approximate masks take the same time to compare.
        let masks = ours.masks(self.tags.iter().map(|&tag| (tag, 1)), 64).ok();
        let masks = masks.map(|them| (0..them.len()).map(|at| them.mask(at)).collect::<Vec<_>>());

        let (tags, numbers) = (&pairs.tags, &pairs.numbers);
        let mut contenders = vec![pairs.windows("tbaa", |w| ask(&ours, &tags[w]))];
        if let Some(llvm) = &self.llvm {
            contenders.push(pairs.windows("LLVM", |w| llvm.ask(w)));
            contenders.push(pairs.windows("LLVM generic", |w| llvm.generic(w)));
        }
        if let Some(masks) = &masks {
            contenders.push(pairs.windows("mask", |w| ask_masks(masks, &numbers[w])));
        }
        contenders.extend([
            pairs.windows("16 bytes", |w| compare_records(&records, &numbers[w])),
            pairs.windows("union", |w| ask(&union, &tags[w])),
            pairs.windows("union-strict", |w| ask(&strict, &tags[w])),
            again("sized again", &tags[..AGAIN.min(tags.len())], |w| ask_sized(&union, w)),
            pairs.windows("generic", |w| generic(&ours, &tags[w])),
            two_threads(&ours, tags),
        ]);
        sampler.race("query", id, contenders)
    }

    /// Measures all pairs of at most 16,384 tags (32 MB). An LLVM sample compares one tag with all.
    pub(crate) fn race_all_pairs(&mut self, sampler: &mut Sampler, id: &str) -> Race {
        let ours = Oracle::new(self.graph, AliasRule::Llvm);
        let count = self.tags.len();
        let tags = &self.tags[..count.min(1 << 14)];
        let all = || time(|| ours.matrix(tags).count_may_alias()).0;
        let mut contenders = vec![Contender::new("tbaa", tags.len() * tags.len(), all)];
        if let Some(llvm) = &mut self.llvm {
            let mut next = 0;
            contenders.push(Contender::new("LLVM", count, move || {
                next = (next + 1) % count;
                time(|| llvm.row(next)).0
            }));
        }
        sampler.race("all pairs", id, contenders)
    }

    /// Compares our answers with LLVM's on the given pairs. Panics if an answer differs.
    fn compare(&mut self, ours: &Oracle<&Graph>, pairs: &Pairs) {
        let Some(llvm) = &mut self.llvm else { return };
        llvm.set_pairs(&pairs.numbers);
        let answers = llvm.answers();
        let differs = |(&(a, b), &theirs): (&(TagId, TagId), &bool)| ours.may_alias(a, b) != theirs;
        let at = pairs.tags.iter().zip(&answers).position(differs);
        assert_eq!(at.map(|at| pairs.numbers[at]), None, "a pair of tags on which LLVM differs");
    }
}

/// Measures single queries on several graphs in one race, so that the times are comparable. The
/// name of a contender is `tbaa` or `LLVM`, a space, and the graph's index.
pub(crate) fn race_many(sampler: &mut Sampler, id: &str, subjects: &mut [Subject<'_>]) -> Race {
    let quick = sampler.quick;
    let pairs: Vec<_> = subjects.iter().map(|s| Pairs::random(&s.tags, quick)).collect();
    let ours: Vec<_> = subjects.iter().map(|s| Oracle::new(s.graph, AliasRule::Llvm)).collect();
    for (subject, (ours, pairs)) in subjects.iter_mut().zip(ours.iter().zip(&pairs)) {
        subject.compare(ours, pairs);
    }
    let with_pairs = || ours.iter().zip(&pairs).enumerate();
    // The last graph's contender moves to index 1, because criterion compares the first two.
    let mut contenders: Vec<_> = with_pairs()
        .map(|(at, (ours, pairs))| {
            pairs.windows(format!("tbaa {at}"), |w| ask(ours, &pairs.tags[w]))
        })
        .collect();
    if let Some(last) = contenders.pop() {
        contenders.insert(1.min(contenders.len()), last);
    }
    for (at, (subject, pairs)) in subjects.iter().zip(&pairs).enumerate() {
        if let Some(llvm) = &subject.llvm {
            contenders.push(pairs.windows(format!("LLVM {at}"), |w| llvm.ask(w)));
        }
    }
    sampler.race("shape", id, contenders)
}

/// The largest number of pairs that are passed to [`again`].
const AGAIN: usize = 1 << 12;

/// Returns a contender that makes the same queries twice for each sample, and times the second run.
fn again<'a>(
    name: &str,
    pairs: &'a [(TagId, TagId)],
    mut ask: impl FnMut(&'a [(TagId, TagId)]) -> usize + 'a,
) -> Contender<'a> {
    Contender::new(name, pairs.len(), move || {
        std::hint::black_box(ask(pairs));
        time(|| ask(pairs)).0
    })
}

/// Returns a contender in which two threads each query half of the pairs. The longer time counts.
fn two_threads<'a>(ours: &'a Oracle<&Graph>, tags: &'a [(TagId, TagId)]) -> Contender<'a> {
    let halves = tags.split_at(tags.len() / 2);
    Contender::new("two threads", tags.len(), move || {
        thread::scope(|scope| {
            let half = |half| move || time(|| ask(ours, half)).0;
            let second = scope.spawn(half(halves.1));
            let first = half(halves.0)();
            first.max(second.join().expect("no panic"))
        })
    })
}
