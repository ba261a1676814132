//! Finds loops that LLVM cannot vectorise without a run-time check because types allow an overlap.
//!
//! Accesses that may overlap by their pointers alone are one group: no type can separate them. In
//! one run of LLVM, each group has an alias scope of its own, so no two groups overlap. If LLVM
//! then vectorises the loop better ([`Vectors`]), each further run lets one pair of groups share a
//! scope. If LLVM vectorises the loop worse with a shared scope, that pair blocks the loop.

use std::collections::{BTreeMap, HashMap};

use tbaa_ir::{DebugInfo, Flow, Loop, Opcode, Sizes};

use super::proof::spread;
use super::prove::{AskError, Prover, Trial, read};
use super::{Blocked, Blocker, Body, Cause, Event, Judge, Judged, Vectorise, Vectors, Wanted};

/// The largest number of pairs of groups in one loop that LLVM is asked about.
const MOST_PAIRS: usize = 32;

/// An innermost loop with groups of accesses that types do not separate.
struct Candidate<'f, 't> {
    /// The index of the loop's function in the list of analysed functions.
    function: usize,
    body: &'f Body<'t>,
    flow: &'f Flow,
    around: &'f Loop,
    name: (&'t [u8], &'t [u8]),
    /// Groups of accesses, as indices into the module's instructions.
    groups: Vec<Vec<usize>>,
    /// Pairs of groups (indices), each with a blocker: an access of one group and one of the other.
    pairs: Vec<(usize, usize, Blocker)>,
}

impl Candidate<'_, '_> {
    /// Returns a trial with a scope for each group. The two groups of pair `shared` get one scope.
    fn trial(&self, shared: Option<usize>) -> Trial {
        let shared = shared.map(|pair| &self.pairs[pair]);
        let scope = |group| match shared {
            Some(&(first, second, _)) if group == second => first,
            _ => group,
        };
        let mut groups = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let insts = group.iter().filter_map(|&access| self.body.inst(Event::Access(access)));
            groups.extend(insts.map(|inst| (self.body.function.end_of(inst), scope(at))));
        }
        Trial { load: self.groups[0][0], groups }
    }
}

/// Finds loops that LLVM would vectorise better if types separated more accesses. Each result holds
/// the index of a function in `functions`, and blocking pairs of one loop with an access in common.
/// Leaves out results of which `is_wanted` accepts no access. Asks about at most `limit` loops.
///
/// # Errors
///
/// LLVM cannot be run, or fails.
pub fn loops<'a>(
    prover: &Prover<'a>,
    functions: &[Judged<'a>],
    debug: &DebugInfo<'_>,
    is_wanted: impl Fn(usize) -> bool,
    limit: usize,
) -> Result<Vec<(usize, Blocked)>, AskError> {
    let judge = prover.judge;
    let names: Vec<&[u8]> = judge.module.functions().collect();
    let mut all = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        candidates(judge, index, function, names[function.index as usize], &mut all);
    }
    let all: Vec<&Candidate<'_, '_>> = spread(&all, limit).collect();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let ask = |trials: &[Trial]| Results::read(&prover.vectorised(trials)?);
    let now = ask(&[])?;
    let trials: Vec<Trial> = all.iter().map(|candidate| candidate.trial(None)).collect();
    let then = ask(&trials)?;
    let better: Vec<&Candidate<'_, '_>> =
        all.into_iter().filter(|at| then.get(at.name) > now.get(at.name)).collect();
    let mut blamed: Vec<Vec<Blocker>> = better.iter().map(|_| Vec::new()).collect();
    for pair in 0..better.iter().map(|candidate| candidate.pairs.len()).max().unwrap_or(0) {
        let asked = || better.iter().enumerate().filter(|(_, at)| pair < at.pairs.len());
        let trials: Vec<Trial> = asked().map(|(_, at)| at.trial(Some(pair))).collect();
        let shared = ask(&trials)?;
        for (index, candidate) in asked() {
            if shared.get(candidate.name) < then.get(candidate.name) {
                blamed[index].push(candidate.pairs[pair].2);
            }
        }
    }
    let records = if better.is_empty() { String::new() } else { prover.remarks()? };
    let mut found = Vec::new();
    for (candidate, mut blamed) in better.into_iter().zip(blamed) {
        if blamed.is_empty() {
            // No pair alone makes LLVM vectorise less, so several pairs together do: report all.
            blamed = candidate.pairs.iter().map(|pair| pair.2).collect();
        }
        let by_access = by_access(blamed);
        let Candidate { function, flow, around, name, .. } = *candidate;
        let body = &functions[function].body;
        let header = around.header;
        let blocks = &body.function.blocks;
        let all = flow.blocks_of(around).iter();
        let mut ends = all.filter(|&&block| blocks[block].successors.contains(&header));
        let at = ends.find_map(|&end| debug.loop_at(body.last_offset(end)?));
        let line = at.map_or((0, 0), |at| (at.line, at.column));
        let remark = remark(&records, name.0, line);
        for (load, blockers) in by_access {
            let admits = |event: Event| event.access().is_some_and(&is_wanted);
            if !admits(load) && !blockers.iter().any(|blocker| admits(blocker.event)) {
                continue;
            }
            let is_in = |block| flow.is_in(around, block);
            let is_fixed = |event: Event| {
                let pointer = event.access().and_then(|access| body.pointer(access));
                pointer.is_some_and(|pointer| body.pointers.is_invariant(pointer, is_in))
            };
            let (now, then, remark) = (now.get(name), then.get(name), remark.clone());
            let is_fixed_there = blockers.iter().any(|blocker| is_fixed(blocker.event));
            let is_fixed = is_fixed(load);
            let has_fixed = is_fixed || is_fixed_there;
            let vectorise = Vectorise { header, now, then, remark, is_fixed, has_fixed };
            let (wanted, depth) = (Wanted::Vectorise(Box::new(vectorise)), flow.depth(header));
            found.push((function, Blocked { load, wanted, blockers, depth }));
        }
    }
    Ok(found)
}

/// Sorts pairs of accesses into lists, each by a common access. Repeatedly takes the access that is
/// in the most remaining pairs, and makes a list of these pairs.
fn by_access(mut pairs: Vec<Blocker>) -> BTreeMap<Event, Vec<Blocker>> {
    let both = |pair: &Blocker| [pair.load, pair.event];
    let mut found: BTreeMap<Event, Vec<Blocker>> = BTreeMap::new();
    let count = |pairs: &[Blocker], of| pairs.iter().filter(|it| both(it).contains(&of)).count();
    while let Some(most) = pairs.iter().flat_map(both).rev().max_by_key(|&of| count(&pairs, of)) {
        for pair in pairs.extract_if(.., |pair| both(pair).contains(&most)) {
            let cause = match pair.cause {
                Cause::NoTag => Cause::LoadNoTag,
                Cause::LoadNoTag => Cause::NoTag,
                cause => cause,
            };
            found.entry(most).or_default().push(match pair.load == most {
                true => pair,
                false => Blocker { load: most, event: pair.load, cause },
            });
        }
    }
    found
}

fn candidates<'f, 'a>(
    judge: &Judge<'a>,
    index: usize,
    function: &'f Judged<'a>,
    name: &'a [u8],
    all: &mut Vec<Candidate<'f, 'a>>,
) {
    let body = &function.body;
    let Some(flow) = &body.flow else { return };
    let mut loops: Vec<&Loop> = flow.loops.iter().collect();
    loops.sort_unstable_by_key(|around| around.header);
    for around in loops {
        let depth = flow.depth(around.header);
        let is_innermost = flow.blocks_of(around).iter().all(|&block| flow.depth(block) == depth);
        let Some(events) = body.events_of(flow, around).filter(|_| is_innermost) else { continue };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for access in events.into_iter().filter_map(Event::access) {
            let inst = &judge.module.instructions()[access];
            let is_plain = matches!(inst.opcode, Opcode::Load | Opcode::Store);
            if !is_plain || inst.volatile || inst.atomic {
                continue;
            }
            let meets =
                |group: &Vec<usize>| group.iter().any(|&other| judge.may_meet(body, access, other));
            // All groups that the access may overlap become one group.
            let mut joined = vec![access];
            while let Some(at) = groups.iter().position(&meets) {
                joined.extend(groups.swap_remove(at));
            }
            groups.push(joined);
        }
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        let pairs = (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        let blamed =
            |(a, b): (usize, usize)| Some((a, b, judge.pair(body, &groups[a], &groups[b])?));
        let pairs: Vec<_> = pairs.filter_map(blamed).take(MOST_PAIRS).collect();
        if !pairs.is_empty() {
            let name = (name, body.function.blocks[around.header].labels[0]);
            all.push(Candidate { function: index, body, flow, around, name, groups, pairs });
        }
    }
}

/// The result for each loop in LLVM's output. The key is the function and the label of the loop's
/// header. Other blocks have entries too, without a meaning.
/// LLVM: the names of blocks in `InnerLoopVectorizer`.
struct Results(HashMap<(Vec<u8>, Vec<u8>), Vectors>);

impl Results {
    fn get(&self, (function, header): (&[u8], &[u8])) -> Vectors {
        // If vector code replaces the whole loop, LLVM deletes the loop's old blocks.
        let key = (function.to_vec(), header.to_vec());
        self.0.get(&key).copied().unwrap_or(Vectors::Vectorised)
    }

    fn read(text: &[u8]) -> Result<Results, AskError> {
        let module = read(text)?;
        let mut all = HashMap::new();
        let sizes = Sizes::new(&module);
        for (function, name) in (0..).zip(module.functions()) {
            let blocks = module.function(&sizes, function).blocks;
            let key = |label: &[u8]| (name.to_vec(), label.to_vec());
            for (rest, block) in blocks.iter().enumerate() {
                for label in &block.labels {
                    all.entry(key(label)).or_insert(Vectors::Scalar);
                }
                let is = |name: &[u8]| block.labels.iter().any(|label| label.starts_with(name));
                if !is(b"scalar.ph") && !is(b"vec.epilog.scalar.ph") {
                    continue;
                }
                let is_checked = blocks.iter().any(|block| {
                    block.successors.contains(&rest)
                        && block.labels.iter().any(|label| label.starts_with(b"vector.memcheck"))
                });
                let made = if is_checked { Vectors::Checked } else { Vectors::Vectorised };
                let after = block.successors.iter().flat_map(|&after| &blocks[after].labels);
                all.extend(after.map(|label| (key(label), made)));
            }
        }
        Ok(Results(all))
    }
}

/// Returns LLVM's reason not to vectorise the loop at a line and column, from LLVM's optimisation
/// records. `None` if there is no reason, or if loops at that position have different reasons. The
/// record with a loop's reason comes before the record with the loop's line.
/// LLVM: `YAMLRemarkSerializer`.
fn remark(records: &str, function: &[u8], (line, column): (u32, u32)) -> Option<String> {
    let function = format!("Function:        {}\n", String::from_utf8_lossy(function));
    let place = format!("Line: {line}, Column: {column} }}");
    let (mut found, mut why): (Option<String>, _) = (None, None);
    for record in records.split("--- !").filter(|part| part.contains(&function)) {
        let strings = record.lines().filter_map(|line| line.trim().strip_prefix("- String:"));
        let said: String = strings.map(|string| string.trim_start().trim_matches('\'')).collect();
        if let Some(reason) = said.strip_prefix("loop not vectorized: ") {
            why = Some(reason.to_owned());
        } else if record.contains("MissedDetails") {
            let why = why.take();
            if line != 0 && record.contains(&place) {
                if found.is_some() && found != why {
                    return None;
                }
                found = why;
            }
        }
    }
    found
}
