//! A long-running compiler: one thread adds types and tags and queries, others query meanwhile. All
//! answers are compared with those of an oracle that is built at the end.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};
use std::thread;
use std::time::Duration;

use tbaa::{AliasRule, Format, Graph, Oracle, Publisher, Reader, TagId};

use crate::Rng;
use crate::random::{Grower, Growth};

/// Queries of each thread for each added struct.
pub const QUESTIONS: usize = 100;
/// Tags of each struct.
const TAGS: usize = 5;
/// The most structs that threads may differ by.
const AHEAD: usize = 32;

pub struct Plan {
    pub rule: AliasRule,
    pub format: Format,
    /// Structs to add.
    pub structs: usize,
    /// Threads besides the adding one.
    pub readers: usize,
    pub seed: u64,
    /// Returns the number of bytes that the calling thread has allocated and not freed.
    pub held: fn() -> isize,
}

/// The time and memory of a tenth of the run.
#[derive(Clone, Copy, Default)]
pub struct Part {
    pub tags: usize,
    /// The memory of graph, oracle and replicas.
    pub bytes: usize,
    pub replicas: usize,
    add: Duration,
    publish: Duration,
    ask: Duration,
    read: Duration,
    structs: u32,
}

pub struct Report {
    pub parts: Vec<Part>,
    /// All answers,
    pub answers: usize,
    /// those among them that are `NoAlias`,
    pub apart: usize,
    /// and `MayAlias` for a tag that was not published yet.
    pub early: usize,
}

/// The state that the threads share. They wait for one another so as to stay together, not
/// for the library.
struct Shared {
    /// Every tag that was made, as soon as it was,
    tags: Vec<OnceLock<TagId>>,
    made: AtomicUsize,
    /// how many of them are published,
    published: AtomicUsize,
    /// and after how many structs each thread is; the first adds.
    at: Vec<AtomicUsize>,
}

/// An answer: the positions of the two tags, and the result.
#[derive(Clone, Copy)]
struct Answer {
    a: u32,
    /// Twice the position, and 1 for `MayAlias`.
    b: u32,
}

/// Adds to and asks an oracle from several threads.
pub fn run(plan: &Plan) -> Report {
    let empty = || AtomicUsize::new(0);
    let shared = Shared {
        tags: (0..plan.structs * TAGS).map(|_| OnceLock::new()).collect(),
        made: empty(),
        published: empty(),
        at: (0..=plan.readers).map(|_| empty()).collect(),
    };
    let mut oracle = Oracle::new(Graph::new(), plan.rule);
    let mut publisher = Publisher::new(&oracle);
    let (mut parts, mut answers) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let threads: Vec<_> = (1..=plan.readers)
            .map(|number| {
                let (reader, shared) = (publisher.reader(), &shared);
                scope.spawn(move || read(plan, shared, number, reader))
            })
            .collect();
        let (asked, own) = add(plan, &shared, &mut oracle, &mut publisher);
        (answers, parts) = (vec![asked], own);
        for thread in threads {
            let (asked, read) = thread.join().unwrap();
            answers.push(asked);
            for (part, read) in parts.iter_mut().zip(read) {
                part.read += read / plan.readers as u32;
            }
        }
    });
    let mut report = Report { parts, answers: 0, apart: 0, early: 0 };
    let end = Oracle::new(oracle.graph(), plan.rule);
    for (thread, answers) in answers.iter().enumerate() {
        compare(&end, answers, thread == 0, &mut report);
    }
    report
}

/// Compares answers with those at the end. Answers never change, except `MayAlias` for a tag that
/// was not yet published.
fn compare(end: &Oracle<&Graph>, answers: &[Option<Answer>], own: bool, report: &mut Report) {
    for answer in answers {
        report.answers += 1;
        let Some(Answer { a, b }) = *answer else {
            assert!(!own, "the thread that adds knows all tags");
            report.early += 1;
            continue;
        };
        let [x, y] = [a, b / 2].map(|at| end.graph().tag_at(at as usize).unwrap());
        let may = b % 2 == 1;
        assert_eq!(may, end.may_alias(x, y), "{:?} {x:?} {y:?}, by the oracle: {own}", end.rule());
        report.apart += usize::from(!may);
    }
}

/// A thread among others, which wait for it no longer when it is gone: for a check
/// that failed, too.
struct Present<'s>(&'s AtomicUsize);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX / 2, Release);
    }
}

impl Shared {
    /// Waits until the threads are together.
    fn meet(&self, thread: usize, structs: usize) {
        self.at[thread].store(structs, Release);
        let late = |at: &AtomicUsize| at.load(Acquire) + AHEAD < structs;
        while self.at.iter().any(late) {
            thread::yield_now();
        }
    }

    /// Records a new tag; an existing one is returned again.
    fn make(&self, tag: TagId) {
        if tag.index() == self.made.load(Acquire) {
            self.tags[tag.index()].set(tag).unwrap();
            self.made.store(tag.index() + 1, Release);
        }
    }

    fn tag(&self, at: usize) -> TagId {
        *self.tags[at].get().expect("the count is raised after the tag is there")
    }

    /// Returns the positions of two tags among the first `count`, mostly recent ones, like a
    /// compiler's queries. Uniform positions would measure the sizes of caches.
    fn pair(&self, rng: &mut Rng, count: usize) -> [usize; 2] {
        [(); 2].map(|()| {
            let late = [2 * TAGS, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, count][rng.below(8)];
            let late = late.min(count);
            count - late + rng.below(late)
        })
    }
}

/// Returns how long this thread has been running: the machine may have other things to do.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub fn busy() -> Duration {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = [0; 2];
    // SAFETY: a `timespec` consists of these two numbers here.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time[0] as u64, time[1] as u32)
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
pub fn busy() -> Duration {
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Returns the tenth of the run that a struct is in.
fn part_of(plan: &Plan, at: usize) -> usize {
    at * 10 / plan.structs
}

/// The adding thread: it queries its own oracle.
fn add(
    plan: &Plan,
    shared: &Shared,
    oracle: &mut Oracle,
    publisher: &mut Publisher,
) -> (Vec<Option<Answer>>, Vec<Part>) {
    let _present = Present(&shared.at[0]);
    let rng = &mut Rng(plan.seed);
    let mut types = oracle.update(|graph| Grower::new(graph, plan.format, Growth::FLAT));
    let mut answers = Vec::with_capacity(plan.structs * QUESTIONS);
    let mut parts = vec![Part::default(); 10];
    let before = (plan.held)();
    for at in 0..plan.structs {
        shared.meet(0, at);
        let part = &mut parts[part_of(plan, at)];
        let start = busy();
        let made = oracle.update(|graph| {
            let ty = types.add(graph, rng);
            (0..TAGS).filter_map(|_| types.tag(graph, ty, rng)).collect::<Vec<_>>()
        });
        part.add += busy().saturating_sub(start);
        made.into_iter().for_each(|tag| shared.make(tag));
        let count = oracle.graph().tag_count();
        assert_eq!(shared.made.load(Acquire), count);
        // Half of the time, tags are queried before they are published.
        if at.is_multiple_of(2) {
            part.ask += ask(shared, oracle, rng, &mut answers);
        }
        let start = busy();
        publisher.publish(oracle);
        part.publish += busy().saturating_sub(start);
        shared.published.store(count, Release);
        if !at.is_multiple_of(2) {
            part.ask += ask(shared, oracle, rng, &mut answers);
        }
        (part.tags, part.replicas) = (count, publisher.replicas());
        // The memory that a reader added to a replica is given back here.
        part.bytes = usize::try_from((plan.held)() - before).unwrap_or(0);
        part.structs += 1;
    }
    (answers, parts)
}

/// Asks the oracle itself.
fn ask(
    shared: &Shared,
    oracle: &Oracle,
    rng: &mut Rng,
    answers: &mut Vec<Option<Answer>>,
) -> Duration {
    let start = busy();
    for _ in 0..QUESTIONS {
        let [a, b] = shared.pair(rng, oracle.graph().tag_count());
        let may = oracle.may_alias(shared.tag(a), shared.tag(b));
        answers.push(Some(Answer { a: a as u32, b: 2 * b as u32 + u32::from(may) }));
    }
    busy().saturating_sub(start)
}

/// A thread that queries through a reader. Every other one keeps its replica for long, and then
/// catches up.
fn read(
    plan: &Plan,
    shared: &Shared,
    number: usize,
    mut reader: Reader,
) -> (Vec<Option<Answer>>, Vec<Duration>) {
    let _present = Present(&shared.at[number]);
    let rng = &mut Rng(plan.seed + number as u64);
    let mut answers = Vec::with_capacity(plan.structs * QUESTIONS);
    let mut parts = vec![Duration::ZERO; 10];
    shared.meet(number, AHEAD + 1);
    for at in 0..plan.structs {
        shared.meet(number, at);
        let content = number.is_multiple_of(2) && !at.is_multiple_of(50);
        let start = busy();
        for _ in 0..QUESTIONS {
            let known = if content { reader.oracle().graph().tag_count() } else { 0 };
            let count = if known == 0 { shared.made.load(Acquire) } else { known };
            let published = shared.published.load(Acquire);
            let [a, b] = shared.pair(rng, count);
            let may = reader.may_alias(shared.tag(a), shared.tag(b));
            let knows = a.max(b) < reader.oracle().graph().tag_count();
            assert!(knows || a.max(b) >= published, "a published tag is known");
            assert!(knows || may, "nothing is proved of a tag that is not known");
            let answer = Answer { a: a as u32, b: 2 * b as u32 + u32::from(may) };
            answers.push(knows.then_some(answer));
        }
        parts[part_of(plan, at)] += busy().saturating_sub(start);
    }
    (answers, parts)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { answers, apart, early, .. } = self;
        writeln!(f, "{answers} answers: {apart} NoAlias, {early} before the tag was published")?;
        writeln!(
            f,
            "   tags  bytes/tag  replicas  ns: add  publish  ask the oracle  ask the reader"
        )?;
        for part in &self.parts {
            let ns = |time: Duration, count: usize| {
                time.as_nanos() as f64 / (part.structs as usize * count).max(1) as f64
            };
            writeln!(
                f,
                "{:7} {:10.1} {:9} {:8.0} {:8.0} {:15.1} {:15.1}",
                part.tags,
                part.bytes as f64 / part.tags.max(1) as f64,
                part.replicas,
                ns(part.add, 1),
                ns(part.publish, 1),
                ns(part.ask, QUESTIONS),
                ns(part.read, QUESTIONS),
            )?;
        }
        Ok(())
    }
}
