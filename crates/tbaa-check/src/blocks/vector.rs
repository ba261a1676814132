//! Loops that LLVM does not vectorise, or only behind a check at run time, because two accesses
//! in them may overlap as far as their types tell.
//!
//! LLVM is asked. Accesses that may overlap by their pointers alone are one group: no type can
//! separate them. Each group gets an alias scope of its own, and LLVM shows what it does with the
//! loop if no two groups overlap. If that is more, two groups at a time share one scope. Where LLVM
//! then does less, these two are to blame.

use std::collections::{BTreeMap, HashMap};

use tbaa_ir::{DebugInfo, Flow, Loop, Opcode, Sizes};

use super::proof::spread;
use super::prove::{AskError, Prover, Trial};
use super::{Blocked, Blocker, Body, Event, Judge, Judged, Vectorise, Vectors, Wanted};

/// Pairs of groups in one loop that LLVM is asked about.
const MOST_PAIRS: usize = 32;

/// An innermost loop in which types alone may keep two accesses together.
struct Candidate<'f, 't> {
    /// Index into the functions that are judged.
    function: usize,
    body: &'f Body<'t>,
    flow: &'f Flow,
    around: &'f Loop,
    name: (&'t [u8], &'t [u8]),
    /// Accesses that are one group, as indices into the module's instructions.
    groups: Vec<Vec<usize>>,
    /// Two groups, and an access of the first with one of the second that may overlap it.
    pairs: Vec<(usize, usize, Blocker)>,
}

impl Candidate<'_, '_> {
    /// A scope for each group, but one for both groups of a pair.
    fn trial(&self, shared: Option<usize>) -> Trial {
        let shared = shared.map(|pair| &self.pairs[pair]);
        let of = |group| shared.map_or(group, |it| if group == it.1 { it.0 } else { group });
        let groups = self.groups.iter().enumerate();
        let groups = groups.flat_map(|(at, group)| group.iter().map(move |&it| (it, of(at))));
        let end =
            |access| self.body.inst(Event::Access(access)).map(|it| self.body.function.end_of(it));
        let groups = groups.filter_map(|(it, group)| Some((end(it)?, group))).collect();
        Trial { load: self.groups[0][0], groups }
    }
}

/// Finds the loops that `is_wanted` admits accesses of, with the indices of their functions.
/// LLVM is asked about `limit` loops at most.
///
/// # Errors
///
/// LLVM cannot be asked.
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
    let ask = |trials: &[Trial]| Ok::<_, AskError>(Results::read(&prover.vectorised(trials)?));
    let now = ask(&[])?;
    let trials: Vec<Trial> = all.iter().map(|it| it.trial(None)).collect();
    let then = ask(&trials)?;
    let result = |of: &Results, it: &Candidate<'_, '_>| of.get(it.name);
    let better: Vec<&Candidate<'_, '_>> =
        all.into_iter().filter(|it| result(&then, it) > result(&now, it)).collect();
    let mut blamed: Vec<Vec<Blocker>> = better.iter().map(|_| Vec::new()).collect();
    for pair in 0..better.iter().map(|it| it.pairs.len()).max().unwrap_or(0) {
        let asked = || better.iter().enumerate().filter(|(_, it)| pair < it.pairs.len());
        let trials: Vec<Trial> = asked().map(|(_, it)| it.trial(Some(pair))).collect();
        let shared = ask(&trials)?;
        for (at, it) in asked() {
            if result(&shared, it) < result(&then, it) {
                blamed[at].push(it.pairs[pair].2);
            }
        }
    }
    let records = if better.is_empty() { String::new() } else { prover.remarks()? };
    let mut found = Vec::new();
    for (it, mut blamed) in better.into_iter().zip(blamed) {
        if blamed.is_empty() {
            // Only several of them together keep LLVM from it.
            blamed = it.pairs.iter().map(|pair| pair.2).collect();
        }
        let by_access = by_access(blamed);
        let body = &functions[it.function].body;
        let header = it.around.header;
        let blocks = &body.function.blocks;
        let all = it.flow.blocks_of(it.around).iter();
        let mut ends = all.filter(|&&block| blocks[block].successors.contains(&header));
        let at = ends.find_map(|&end| debug.loop_at(body.last_offset(end)?));
        let line = at.map_or((0, 0), |at| (at.line, at.column));
        let remark = remark(&records, it.name.0, line);
        for (load, blockers) in by_access {
            let names = |it: Event| it.access().is_some_and(&is_wanted);
            if !names(load) && !blockers.iter().any(|it| names(it.event)) {
                continue;
            }
            let is_in = |block| it.flow.is_in(it.around, block);
            let is_fixed = |it: Event| {
                let pointer = it.access().and_then(|it| body.pointer(it));
                pointer.is_some_and(|it| body.pointers.is_invariant(it, is_in))
            };
            let wanted = Wanted::Vectorise(Box::new(Vectorise {
                header,
                now: result(&now, it),
                then: result(&then, it),
                remark: remark.clone(),
                is_fixed: is_fixed(load),
                has_fixed: is_fixed(load) || blockers.iter().any(|it| is_fixed(it.event)),
            }));
            let depth = it.flow.depth(header);
            found.push((it.function, Blocked { load, wanted, blockers, depth }));
        }
    }
    Ok(found)
}

/// Pairs of accesses by the access that is in most of them: what separates that one from the
/// others is the shortest answer.
fn by_access(mut pairs: Vec<Blocker>) -> BTreeMap<Event, Vec<Blocker>> {
    let both = |it: &Blocker| [it.load, it.event];
    let mut found: BTreeMap<Event, Vec<Blocker>> = BTreeMap::new();
    let count = |pairs: &[Blocker], of| pairs.iter().filter(|it| both(it).contains(&of)).count();
    while let Some(most) = pairs.iter().flat_map(both).rev().max_by_key(|&it| count(&pairs, it)) {
        for it in pairs.extract_if(.., |it| both(it).contains(&most)) {
            let event = if it.load == most { it.event } else { it.load };
            found.entry(most).or_default().push(Blocker { event, load: most, ..it });
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
    loops.sort_unstable_by_key(|it| it.header);
    for around in loops {
        let depth = flow.depth(around.header);
        let is_innermost = flow.blocks_of(around).iter().all(|&it| flow.depth(it) == depth);
        let Some(events) = body.events_of(flow, around).filter(|_| is_innermost) else { continue };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for access in events.into_iter().filter_map(Event::access) {
            let it = &judge.module.instructions()[access];
            let is_plain = matches!(it.opcode, Opcode::Load | Opcode::Store);
            if !is_plain || it.volatile || it.atomic {
                continue;
            }
            let meets = |of: &Vec<usize>| of.iter().any(|&it| judge.may_meet(body, access, it));
            // An access may join groups that were apart before.
            let mut joined = vec![access];
            while let Some(at) = groups.iter().position(&meets) {
                joined.extend(groups.swap_remove(at));
            }
            groups.push(joined);
        }
        groups.iter_mut().for_each(|it| it.sort_unstable());
        groups.sort_unstable();
        let mut pairs = Vec::new();
        for b in 0..groups.len() {
            for a in 0..b {
                pairs.extend(judge.pair(body, &groups[a], &groups[b]).map(|it| (a, b, it)));
            }
        }
        pairs.truncate(MOST_PAIRS);
        if !pairs.is_empty() {
            let name = (name, body.function.blocks[around.header].labels[0]);
            all.push(Candidate { function: index, body, flow, around, name, groups, pairs });
        }
    }
}

/// By function and the label of a loop's first block, what LLVM made of the loops with vectors;
/// and by function the labels that are left.
///
/// LLVM: the names of blocks in `InnerLoopVectorizer`.
struct Results(HashMap<(Vec<u8>, Vec<u8>), Vectors>);

impl Results {
    fn get(&self, (function, header): (&[u8], &[u8])) -> Vectors {
        // The old blocks are gone if the whole loop is done in vectors.
        let key = (function.to_vec(), header.to_vec());
        self.0.get(&key).copied().unwrap_or(Vectors::Vectorised)
    }

    fn read(text: &[u8]) -> Results {
        let Ok(module) = tbaa_ir::read(text) else { return Results(HashMap::new()) };
        let mut all = HashMap::new();
        let sizes = Sizes::new(&module);
        for (function, name) in (0..).zip(module.functions()) {
            let blocks = module.function(&sizes, function).blocks;
            let key = |label: &[u8]| (name.to_vec(), label.to_vec());
            for (rest, block) in blocks.iter().enumerate() {
                for label in &block.labels {
                    all.entry(key(label)).or_insert(Vectors::Scalar);
                }
                let is = |name: &[u8]| block.labels.iter().any(|it| it.starts_with(name));
                if !is(b"scalar.ph") && !is(b"vec.epilog.scalar.ph") {
                    continue;
                }
                let is_checked = blocks.iter().any(|it| {
                    it.successors.contains(&rest)
                        && it.labels.iter().any(|it| it.starts_with(b"vector.memcheck"))
                });
                let made = if is_checked { Vectors::Checked } else { Vectors::Vectorised };
                let after = block.successors.iter().flat_map(|&after| &blocks[after].labels);
                all.extend(after.map(|label| (key(label), made)));
            }
        }
        Results(all)
    }
}

/// Returns LLVM's reason not to vectorise a loop, from its optimisation records; `None` if loops of
/// one line differ. Records of a function stand together, a loop's reason before the loop.
///
/// LLVM: `YAMLRemarkSerializer`.
fn remark(records: &str, function: &[u8], (line, column): (u32, u32)) -> Option<String> {
    let function = format!("Function:        {}\n", String::from_utf8_lossy(function));
    let place = format!("Line: {line}, Column: {column} }}");
    let (mut found, mut why): (Option<String>, _) = (None, None);
    for record in records.split("--- !").filter(|it| it.contains(&function)) {
        let strings = record.lines().filter_map(|it| it.trim().strip_prefix("- String:"));
        let said: String = strings.map(|it| it.trim_start().trim_matches('\'')).collect();
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
