//! Simulates a long-running compiler. One thread adds structs and tags to an oracle. Other threads
//! query replicas, which are published copies of the oracle.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};
use std::thread;
use std::time::Duration;

use tbaa::{AliasRule, Format, Graph, Oracle, Publisher, Reader, TagId};

use crate::Rng;
use crate::random::{Grower, Growth};

/// The number of queries of each thread for each added struct.
pub const QUESTIONS: usize = 100;
/// The maximum number of tags of a struct.
const TAGS: usize = 5;
/// The maximum number of structs by which a thread may be ahead of another.
const AHEAD: usize = 32;

pub struct Plan {
    pub rule: AliasRule,
    pub format: Format,
    /// The number of structs to add.
    pub structs: usize,
    /// The number of threads besides the one that adds.
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
    /// The number of all answers.
    pub answers: usize,
    /// The number of `NoAlias` answers.
    pub apart: usize,
    /// The number of `MayAlias` answers for a tag that was not published yet.
    pub early: usize,
}

/// The state that the threads share. Threads wait for one another, so that none falls far behind.
struct Shared<'p> {
    plan: &'p Plan,
    /// Each tag, as soon as it is added.
    tags: Vec<OnceLock<TagId>>,
    made: AtomicUsize,
    published: AtomicUsize,
    /// The number of structs that each thread is done with; thread 0 adds.
    at: Vec<AtomicUsize>,
}

/// The indices of two tags and whether they may alias; `None` if a tag was not published yet.
type Answer = Option<(u32, u32, bool)>;

/// Adds to an oracle while several threads query replicas. Compares the answers with those of an
/// oracle that is built at the end, except `MayAlias` for a tag that was not published yet.
pub fn run(plan: &Plan) -> Report {
    let shared = Shared {
        plan,
        tags: (0..plan.structs * TAGS).map(|_| OnceLock::new()).collect(),
        made: AtomicUsize::new(0),
        published: AtomicUsize::new(0),
        at: (0..=plan.readers).map(|_| AtomicUsize::new(0)).collect(),
    };
    let mut oracle = Oracle::new(Graph::new(), plan.rule);
    let mut publisher = Publisher::new(&oracle);
    let (mut parts, mut answers) = (Vec::new(), Vec::new());
    thread::scope(|scope| {
        let start = |number| {
            let (reader, shared) = (publisher.reader(), &shared);
            scope.spawn(move || shared.read(number, reader))
        };
        let threads: Vec<_> = (1..=plan.readers).map(start).collect();
        let (asked, own) = shared.add(&mut oracle, &mut publisher);
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
    for (thread, asked) in answers.iter().enumerate() {
        for answer in asked {
            report.answers += 1;
            let Some((a, b, may)) = *answer else {
                assert!(thread > 0, "the thread that adds knows all tags");
                report.early += 1;
                continue;
            };
            let [x, y] = [a, b].map(|at| end.graph().tag_at(at as usize).unwrap());
            assert_eq!(may, end.may_alias(x, y), "{}: {x:?} {y:?}, thread {thread}", plan.rule);
            report.apart += usize::from(!may);
        }
    }
    report
}

/// Marks a thread as running. When the thread ends, even by a panic, the others stop waiting.
struct Present<'s>(&'s AtomicUsize);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.store(usize::MAX / 2, Release);
    }
}

impl Shared<'_> {
    /// Records `structs` as done, and waits until no thread is more than [`AHEAD`] structs behind.
    fn meet(&self, thread: usize, structs: usize) {
        self.at[thread].store(structs, Release);
        let late = |at: &AtomicUsize| at.load(Acquire) + AHEAD < structs;
        while self.at.iter().any(late) {
            thread::yield_now();
        }
    }

    /// Records a tag, unless it is recorded already.
    fn make(&self, tag: TagId) {
        if tag.index() == self.made.load(Acquire) {
            self.tags[tag.index()].set(tag).unwrap();
            self.made.store(tag.index() + 1, Release);
        }
    }

    fn tag(&self, at: usize) -> TagId {
        *self.tags[at].get().expect("the count is raised after the tag is there")
    }

    /// Returns the indices of two of the first `count` tags. Most are recent tags, as in a
    /// compiler's queries. Queries of uniform indices would mostly measure cache misses.
    fn pair(&self, rng: &mut Rng, count: usize) -> [usize; 2] {
        [(); 2].map(|()| {
            let late = [2 * TAGS, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, count][rng.below(8)];
            let late = late.min(count);
            count - late + rng.below(late)
        })
    }
    /// Runs the thread that adds, and that queries its own oracle.
    fn add(&self, oracle: &mut Oracle, publisher: &mut Publisher) -> (Vec<Answer>, Vec<Part>) {
        let plan = self.plan;
        let _present = Present(&self.at[0]);
        let rng = &mut Rng(plan.seed);
        let mut types = oracle.update(|graph| Grower::new(graph, plan.format, Growth::FLAT));
        let mut answers = Vec::with_capacity(plan.structs * QUESTIONS);
        let mut parts = vec![Part::default(); 10];
        let before = (plan.held)();
        for at in 0..plan.structs {
            self.meet(0, at);
            let part = &mut parts[at * 10 / plan.structs];
            let start = busy();
            let made = oracle.update(|graph| {
                let ty = types.add(graph, rng);
                (0..TAGS).filter_map(|_| types.tag(graph, ty, rng)).collect::<Vec<_>>()
            });
            part.add += busy().saturating_sub(start);
            made.into_iter().for_each(|tag| self.make(tag));
            let count = oracle.graph().tag_count();
            assert_eq!(self.made.load(Acquire), count);
            // Half of the time, tags are queried before they are published.
            if at.is_multiple_of(2) {
                part.ask += self.ask(oracle, rng, &mut answers);
            }
            let start = busy();
            publisher.publish(oracle);
            part.publish += busy().saturating_sub(start);
            self.published.store(count, Release);
            if !at.is_multiple_of(2) {
                part.ask += self.ask(oracle, rng, &mut answers);
            }
            (part.tags, part.replicas) = (count, publisher.replicas());
            // This thread frees memory that a reader allocated, so the difference may be negative.
            part.bytes = usize::try_from((plan.held)() - before).unwrap_or(0);
            part.structs += 1;
        }
        (answers, parts)
    }

    /// Queries the oracle itself, and returns the time that this took.
    fn ask(&self, oracle: &Oracle, rng: &mut Rng, answers: &mut Vec<Answer>) -> Duration {
        let start = busy();
        for _ in 0..QUESTIONS {
            let [a, b] = self.pair(rng, oracle.graph().tag_count());
            let may = oracle.may_alias(self.tag(a), self.tag(b));
            answers.push(Some((a as u32, b as u32, may)));
        }
        busy().saturating_sub(start)
    }

    /// Runs a thread that queries through a reader. If `number` is even, most queries are of tags
    /// that the reader's replica has, so that the reader rarely needs a newer replica.
    fn read(&self, number: usize, mut reader: Reader) -> (Vec<Answer>, Vec<Duration>) {
        let structs = self.plan.structs;
        let _present = Present(&self.at[number]);
        let rng = &mut Rng(self.plan.seed + number as u64);
        let mut answers = Vec::with_capacity(structs * QUESTIONS);
        let mut parts = vec![Duration::ZERO; 10];
        self.meet(number, AHEAD + 1);
        for at in 0..structs {
            self.meet(number, at);
            let content = number.is_multiple_of(2) && !at.is_multiple_of(50);
            let start = busy();
            for _ in 0..QUESTIONS {
                let known = if content { reader.oracle().graph().tag_count() } else { 0 };
                let count = if known == 0 { self.made.load(Acquire) } else { known };
                let published = self.published.load(Acquire);
                let [a, b] = self.pair(rng, count);
                let may = reader.may_alias(self.tag(a), self.tag(b));
                let knows = a.max(b) < reader.oracle().graph().tag_count();
                assert!(knows || a.max(b) >= published, "a published tag is known");
                assert!(knows || may, "nothing is proved of a tag that is not known");
                answers.push(knows.then_some((a as u32, b as u32, may)));
            }
            parts[at * 10 / structs] += busy().saturating_sub(start);
        }
        (answers, parts)
    }
}

/// Returns the CPU time of this thread, which does not depend on the machine's load.
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
