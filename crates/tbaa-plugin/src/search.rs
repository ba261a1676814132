//! Finds the type-based answers that change the code that LLVM generates.
//!
//! For each function, the search finds a small set of answers with which LLVM makes the same code
//! as with all answers. The search suppresses a group of answers. If the code does not change, the
//! group is worth nothing and stays suppressed; otherwise the search tries both of its halves.
//! Functions that cannot affect each other's code are tried in the same run.

use std::collections::{BTreeMap, BTreeSet};

use crate::runs::{Allowed, Code, Pair, Question, Runs};
use crate::toolchain::Error;

/// The change of one function's code when one answer is suppressed.
#[derive(Clone, PartialEq, Debug)]
pub struct Worth {
    /// The function that LLVM was optimising.
    pub function: String,
    /// The suppressed answer.
    pub pair: Pair,
    /// The change in the function or, if it was removed, in those that may contain its code.
    pub loss: Loss,
}

/// How much worse a second compilation is than a first; a negative number means better.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize)]
pub struct Loss {
    /// Additional instructions.
    pub instructions: i64,
    /// Additional loads.
    pub loads: i64,
    /// Additional stores.
    pub stores: i64,
    /// Missing vectorised loops.
    pub vector_loops: i64,
    /// Additional cost, if each function is called once.
    pub cost: f64,
    /// Additional loads on each source line.
    pub lines: BTreeMap<String, i64>,
}

impl Loss {
    /// Returns the difference from `before` to `after`, summed over these functions.
    pub fn between<'a>(
        before: &BTreeMap<String, Code>,
        after: &BTreeMap<String, Code>,
        functions: impl Iterator<Item = &'a String>,
    ) -> Loss {
        let mut loss = Loss::default();
        for function in functions {
            for (code, sign) in [(after.get(function), 1), (before.get(function), -1)] {
                let Some(code) = code else { continue };
                loss.instructions += sign * code.instructions;
                loss.loads += sign * code.loads;
                loss.stores += sign * code.stores;
                loss.vector_loops -= sign * code.vector_loops;
                loss.cost += sign as f64 * code.cost;
                for (line, count) in &code.lines {
                    *loss.lines.entry(line.clone()).or_default() += sign * count;
                }
            }
        }
        loss.lines.retain(|_, count| *count != 0);
        loss
    }

    /// Adds another difference to this one.
    pub fn add(&mut self, other: &Loss) {
        self.instructions += other.instructions;
        self.loads += other.loads;
        self.stores += other.stores;
        self.vector_loops += other.vector_loops;
        self.cost += other.cost;
        for (line, count) in &other.lines {
            *self.lines.entry(line.clone()).or_default() += count;
        }
    }
}

/// The results of a search in a module.
#[derive(Debug)]
pub struct Found {
    /// LLVM's queries that no other analysis answers, if no answer is suppressed.
    pub questions: Vec<Question>,
    /// All queries that LLVM makes if the type-based analysis comes first.
    pub asked: Vec<Question>,
    /// The code of each function with all answers.
    pub all: BTreeMap<String, Code>,
    /// The code of each function without any answer.
    pub none: BTreeMap<String, Code>,
    /// The answers that change code if they are suppressed.
    pub worth: Vec<Worth>,
    /// Functions with untried answers, because the limit of runs was reached.
    pub open: BTreeSet<String>,
    /// Functions whose code changes when all answers that are worth nothing are suppressed at once.
    pub differ: BTreeSet<String>,
}

/// The state of the search in one function.
struct Search {
    /// The answers that LLVM gets in the function.
    pairs: Vec<Pair>,
    /// Groups of answers that must still be tried; the last one is next.
    groups: Vec<Vec<usize>>,
    /// Answers that are suppressed, because they are worth nothing.
    out: BTreeSet<usize>,
    /// The functions in whose code a difference is looked for: the function itself, or, if it is
    /// inlined everywhere and removed, the functions that may contain it.
    shown_in: BTreeSet<String>,
    /// The functions whose code may change: the function itself, and all that may contain it.
    changes: BTreeSet<String>,
}

impl Search {
    fn allowed(&self, without: &[usize]) -> BTreeSet<Pair> {
        let kept = |&at: &usize| !self.out.contains(&at) && !without.contains(&at);
        (0..self.pairs.len()).filter(kept).map(|at| self.pairs[at].clone()).collect()
    }

    fn clashes(&self, other: &Search) -> bool {
        !self.changes.is_disjoint(&other.shown_in) || !other.changes.is_disjoint(&self.shown_in)
    }
}

/// Finds the worth of each answer, in at most `limit` runs of LLVM, besides five runs at the start
/// and end. `calls` lists pairs of a caller and a callee. `progress` gets the number of runs done,
/// without these five, and the number of groups of answers left.
///
/// # Errors
///
/// Returns an error if LLVM fails, or if its output cannot be read.
pub fn search(
    runs: &mut Runs<'_>,
    calls: &[(String, String)],
    limit: usize,
    mut progress: impl FnMut(usize, usize),
) -> Result<Found, Error> {
    progress(0, 0);
    let questions = runs.questions()?;
    let asked = runs.all_questions()?;
    let all = runs.code(&Allowed::default())?;
    let none = runs.code(&Allowed { none: true, ..Allowed::default() })?;
    let mut searches = prepared(&questions, calls, &all, &none);
    let mut worth = Vec::new();
    let mut done = 0;
    while done < limit && searches.values().any(|value| !value.groups.is_empty()) {
        let tried = independent(&searches);
        let mut allowed = settled(&searches);
        for name in &tried {
            let search = &searches[name];
            let group = search.groups.last().expect("a search that is tried has a group");
            allowed.only.insert(name.clone(), search.allowed(group));
        }
        let code = runs.code(&allowed)?;
        done += 1;
        for name in &tried {
            let search = searches.get_mut(name).expect("it was taken from there");
            let Some(group) = search.groups.pop() else { continue };
            let same = search.shown_in.iter().all(|name| hash(&code, name) == hash(&all, name));
            match group[..] {
                _ if same => search.out.extend(group),
                [at] => worth.push(Worth {
                    function: name.clone(),
                    pair: search.pairs[at].clone(),
                    loss: Loss::between(&all, &code, search.shown_in.iter()),
                }),
                _ => {
                    let (first, second) = group.split_at(group.len() / 2);
                    search.groups.extend([second.to_vec(), first.to_vec()]);
                }
            }
        }
        progress(done, searches.values().map(|value| value.groups.len()).sum());
    }
    let open = searches.iter().filter(|(_, search)| !search.groups.is_empty());
    let open = open.map(|(name, _)| name.clone()).collect();
    let last = runs.code(&settled(&searches))?;
    let differ = all.keys().filter(|key| hash(&last, key) != hash(&all, key)).cloned().collect();
    worth.sort_by(|a, b| {
        let by_cost = b.loss.cost.total_cmp(&a.loss.cost);
        by_cost.then_with(|| (&a.function, &a.pair).cmp(&(&b.function, &b.pair)))
    });
    Ok(Found { questions, asked, all, none, worth, open, differ })
}

fn hash<'a>(code: &'a BTreeMap<String, Code>, function: &str) -> Option<&'a str> {
    code.get(function).map(|code| code.code.as_str())
}

/// Returns the allowed answers: all except those that are worth nothing.
fn settled(searches: &BTreeMap<String, Search>) -> Allowed {
    let only = searches.iter().filter(|(_, search)| !search.out.is_empty());
    let only = only.map(|(name, search)| (name.clone(), search.allowed(&[])));
    Allowed { only: only.collect(), none: false }
}

/// Returns functions to try in the same run: none can change the code in which another's difference
/// is looked for. Functions with the most answers come first, because they take the most runs.
fn independent(searches: &BTreeMap<String, Search>) -> Vec<String> {
    let mut open: Vec<_> =
        searches.iter().filter(|(_, search)| !search.groups.is_empty()).collect();
    open.sort_by_key(|(name, search)| (std::cmp::Reverse(search.pairs.len()), *name));
    let mut chosen: Vec<(&String, &Search)> = Vec::new();
    for (name, search) in open {
        if !chosen.iter().any(|(_, other)| search.clashes(other)) {
            chosen.push((name, search));
        }
    }
    chosen.into_iter().map(|(name, _)| name.clone()).collect()
}

fn prepared(
    questions: &[Question],
    calls: &[(String, String)],
    all: &BTreeMap<String, Code>,
    none: &BTreeMap<String, Code>,
) -> BTreeMap<String, Search> {
    let mut callers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let measured = || all.iter().chain(none);
    let inlined = measured().map(|(name, code)| Some((name, code.inlined.as_ref()?)));
    match inlined.collect::<Option<Vec<_>>>() {
        // Debug information about inlining is more exact than the list of calls.
        Some(inlined) => {
            for (name, callees) in inlined {
                callees.iter().for_each(|callee| callers.entry(callee).or_default().push(name));
            }
        }
        None => {
            calls.iter().for_each(|(name, callee)| callers.entry(callee).or_default().push(name));
        }
    }
    let mut pairs: BTreeMap<&String, BTreeSet<Pair>> = BTreeMap::new();
    for question in questions.iter().filter(|question| question.is_decided()) {
        let pair = (question.a.clone(), question.b.clone());
        pairs.entry(&question.function).or_default().insert(pair);
    }
    let search = |(function, pairs): (&String, BTreeSet<Pair>)| {
        let changes = above(function, &callers);
        let shown_in = match all.contains_key(function) {
            true => BTreeSet::from([function.clone()]),
            false => changes.iter().filter(|change| all.contains_key(*change)).cloned().collect(),
        };
        let pairs: Vec<Pair> = pairs.into_iter().collect();
        let whole = (0..pairs.len()).collect();
        // If suppressing all answers at once changes nothing, no single answer is tried.
        let same = shown_in.iter().all(|name| hash(all, name) == hash(none, name));
        let (groups, out) = match same {
            true => (Vec::new(), (0..pairs.len()).collect()),
            false => (vec![whole], BTreeSet::new()),
        };
        (function.clone(), Search { pairs, groups, out, shown_in, changes })
    };
    pairs.into_iter().map(search).collect()
}

/// Returns a function and all functions that may contain its code. If two modules define the same
/// name, linking appends a number, as in `f.7`; `callers` may lack that number.
fn above(function: &str, callers: &BTreeMap<&str, Vec<&str>>) -> BTreeSet<String> {
    let mut found = BTreeSet::from([function.to_owned()]);
    let mut open = vec![function];
    while let Some(next) = open.pop() {
        let plain = next.split('.').next().filter(|part| *part != next);
        let all = [Some(next), plain].into_iter().flatten().filter_map(|name| callers.get(name));
        for caller in all.flatten() {
            if found.insert((*caller).to_owned()) {
                open.push(caller);
            }
        }
    }
    found
}

/// The smallest number of functions for which a correlation is computed.
const FUNCTIONS: usize = 20;

impl Found {
    /// Returns Spearman's rank correlation, over the functions, between the number of answers and
    /// the number of loads that are added if all answers are suppressed. Returns `None` for fewer
    /// than 20 functions, or if one of the two numbers is the same for all functions.
    pub fn answers_and_loads(&self) -> Option<f64> {
        let decided = self.questions.iter().filter(|question| question.is_decided());
        let answers: BTreeSet<_> =
            decided.map(|decided| (&decided.function, &decided.a, &decided.b)).collect();
        let mut counts: BTreeMap<&String, f64> = BTreeMap::new();
        answers.iter().for_each(|answer| *counts.entry(answer.0).or_default() += 1.0);
        let functions = self.all.iter().filter_map(|(name, code)| {
            let loads = self.none.get(name)?.loads - code.loads;
            Some((counts.get(name).copied().unwrap_or(0.0), loads as f64))
        });
        let (answers, loads): (Vec<f64>, Vec<f64>) = functions.unzip();
        let correlation = correlation(&ranks(&answers), &ranks(&loads));
        Some(correlation).filter(|found| answers.len() >= FUNCTIONS && found.is_finite())
    }
}

/// Returns the rank of each number, from 0. Equal numbers have the mean of their ranks.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    for equal in order.chunk_by(|&a, &b| numbers[a] == numbers[b]) {
        let mean = start as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|&at| ranks[at] = mean);
        start += equal.len();
    }
    ranks
}

/// Returns Pearson's correlation, or NaN if all numbers of one list are equal.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (x, y) = (mean(a), mean(b));
    let product = |f: &dyn Fn(usize) -> f64| (0..a.len()).map(f).sum::<f64>();
    let both = product(&|at| (a[at] - x) * (b[at] - y));
    both / (product(&|at| (a[at] - x).powi(2)) * product(&|at| (b[at] - y).powi(2))).sqrt()
}

#[test]
fn ranks_that_agree_correlate() {
    let counts = [5.0, 0.0, 0.0, 9.0];
    assert_eq!(ranks(&counts), [2.0, 0.5, 0.5, 3.0]);
    let of = |other: [f64; 4]| correlation(&ranks(&counts), &ranks(&other));
    assert!((of([50.0, 1.0, 1.0, 51.0]) - 1.0).abs() < 1e-9);
    assert!((of([-50.0, 1.0, 1.0, -51.0]) + 1.0).abs() < 1e-9);
    assert!(of([1.0; 4]).is_nan());
}
