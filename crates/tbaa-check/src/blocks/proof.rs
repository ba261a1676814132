//! Measures how often LLVM removes a load once alias scopes separate it from the blamed accesses
//! ([`Blocked::blockers`]). To ask LLVM means to run its passes on the module with these scopes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tbaa_ir::{Address, Opcode};

use super::prove::{AskError, Outcome, Prover, Trial};
use super::{Blocked, Body, Cause, Event, Judge, Judged, Wanted, is_renewed};

/// LLVM's results for the loads that it was asked about.
pub struct Sample {
    /// The result for each load, if alias scopes separate it from the blamed accesses.
    outcomes: HashMap<usize, Outcome>,
    /// The analysed loads that LLVM removes or hoists in the unmodified module.
    gone: HashSet<usize>,
    /// The numbers of loads, by result.
    pub figures: Figures,
}

/// Numbers of loads.
#[derive(Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Figures {
    /// The loads that LLVM's passes keep, and that [`Blocked::can_be_asked`] accepts.
    pub blamed: usize,
    /// The loads of `blamed` that LLVM was asked about.
    pub asked: usize,
    /// The loads of `asked` that LLVM removes or hoists if scopes separate the blamed accesses.
    pub gone: usize,
    /// The loads of a second selection, about which LLVM was asked with scopes that separate each
    /// load from all accesses to other addresses.
    pub tried: usize,
    /// The loads of `tried` that LLVM removes or hoists with these scopes.
    pub gone_of_tried: usize,
    /// The loads of `gone_of_tried` for which scopes on the blamed accesses are enough.
    pub found: usize,
    /// The loads of `gone_of_tried` that are not in `found`, counted by the reason.
    pub missed: BTreeMap<&'static str, usize>,
    /// The names of the loads that `gone_of_tried` counts.
    pub kept_by_memory: Vec<String>,
    /// The names of the loads of `tried` that LLVM keeps even with scopes.
    pub stay: Vec<String>,
}

impl Sample {
    /// Asks LLVM about the loads that `has_load` accepts: at most `limit` for [`Figures::asked`],
    /// and at most `limit` for [`Figures::tried`]. `name` returns a load's name for the figures.
    ///
    /// # Errors
    ///
    /// LLVM cannot be run, or fails.
    pub fn take(
        prover: &Prover<'_>,
        functions: &[Judged<'_>],
        has_load: impl Fn(usize) -> bool,
        limit: usize,
        name: impl Fn(usize) -> String,
    ) -> Result<Sample, AskError> {
        let (judge, mut figures) = (prover.judge, Figures::default());
        let is_open = |load: usize| has_load(load) && prover.is_kept(load);
        let all = functions.iter().flat_map(|of| of.loads.iter().map(move |load| (of, load)));
        let all = all.filter_map(|it| Some((it.1.load.access()?, it)));
        let all: Vec<(usize, (&Judged<'_>, &Blocked))> = all.collect();
        let blamed = all.iter().filter(|(load, it)| is_open(*load) && it.1.can_be_asked());
        let blamed: Vec<Trial> = blamed.map(|&(load, it)| of_blamed(load, it)).collect();
        figures.blamed = blamed.len();
        let trials: Vec<Trial> = spread(&blamed, limit).cloned().collect();
        let answers = prover.ask(&trials)?;
        let mut outcomes: HashMap<usize, Outcome> =
            trials.iter().map(|trial| trial.load).zip(answers).collect();
        figures.asked = outcomes.len();
        figures.gone = outcomes.values().filter(|value| value.is_gone()).count();

        let accesses = functions
            .iter()
            .flat_map(|of| judge.module.accesses_of(of.index).map(move |load| (load, of)));
        let others: Vec<(usize, &Judged<'_>)> =
            accesses.filter(|&(load, _)| is_plain_load(judge, load) && is_open(load)).collect();
        let by_load: HashMap<usize, &Judged<'_>> = others.iter().copied().collect();
        let others: Vec<Trial> =
            spread(&others, limit).map(|&(load, function)| of_all(load, function)).collect();
        figures.tried = others.len();
        let answers = prover.ask(&others)?;
        let all_asked = others.iter().zip(&answers).map(|(of, it)| (of.load, it.is_gone()));
        let (gone, stay): (Vec<_>, Vec<_>) = all_asked.partition(|asked| asked.1);
        let gone: Vec<usize> = gone.into_iter().map(|gone| gone.0).collect();
        figures.kept_by_memory = gone.iter().map(|&gone| name(gone)).collect();
        figures.stay = stay.into_iter().map(|stay| name(stay.0)).collect();
        figures.gone_of_tried = gone.len();
        let blocked: HashMap<usize, (&Judged<'_>, &Blocked)> = all.into_iter().collect();
        let known = gone.iter().filter_map(|load| Some((*load, *blocked.get(load)?)));
        let open = known.filter(|(at, it)| !outcomes.contains_key(at) && it.1.can_be_asked());
        let trials: Vec<Trial> = open.map(|(load, it)| of_blamed(load, it)).collect();
        let answers = prover.ask(&trials)?;
        outcomes.extend(trials.iter().map(|trial| trial.load).zip(answers));
        // If scopes say that no call writes a variable, LLVM takes the variable for undefined.
        let is_filled = |load: &usize| {
            let body = &by_load[load].body;
            is_renewed(body, &body.events.concat(), Event::Access(*load))
        };
        for load in &gone {
            let missed = match (blocked.get(load), outcomes.get(load)) {
                (_, Some(it)) if it.is_gone() => {
                    figures.found += 1;
                    continue;
                }
                (None, _) if is_filled(load) => "a call fills the variable",
                (None, _) => "not seen to be repeated",
                (Some((_, it)), _) if it.blockers.is_empty() => "nothing was blamed",
                (Some(_), Some(_)) => "more than what was blamed keeps it",
                (Some(_), None) => "also kept by what cannot be told apart",
            };
            *figures.missed.entry(missed).or_default() += 1;
        }
        let is_gone = |&load: &usize| is_plain_load(judge, load) && !prover.is_kept(load);
        let gone = blocked.keys().copied().filter(is_gone).collect();
        Ok(Sample { outcomes, gone, figures })
    }

    /// Returns the result for a load; `None` if LLVM was not asked about it.
    pub fn outcome(&self, load: usize) -> Option<Outcome> {
        self.outcomes.get(&load).copied()
    }

    /// Returns whether LLVM removes or hoists an analysed load in the unmodified module.
    pub fn is_gone(&self, load: usize) -> bool {
        self.gone.contains(&load)
    }
}

impl Blocked {
    /// Returns whether alias scopes can rule out all blockers. False without blockers, for
    /// [`Wanted::Sink`] and [`Wanted::Vectorise`], and for a [`Cause`] that scopes cannot remove.
    pub fn can_be_asked(&self) -> bool {
        let is_load = !matches!(self.wanted, Wanted::Sink(_) | Wanted::Vectorise(_));
        let is_apart = |cause: Cause| {
            !matches!(cause, Cause::SamePlace | Cause::Order | Cause::NoReturn { .. })
        };
        is_load
            && !self.blockers.is_empty()
            && self.blockers.iter().all(|blocker| is_apart(blocker.cause))
    }
}

fn is_plain_load(judge: &Judge<'_>, load: usize) -> bool {
    let it = &judge.module.instructions()[load];
    it.opcode == Opcode::Load && !it.volatile && !it.atomic
}

/// Returns a trial with two groups: the load, the loads of its blockers and all loads from the same
/// addresses; and the other blocking events. Blockers with [`Cause::Register`] are left out.
fn of_blamed(load: usize, (function, blocked): (&Judged<'_>, &Blocked)) -> Trial {
    let blamed = blocked.blockers.iter().filter(|blocker| blocker.cause != Cause::Register);
    let loads = blamed.clone().map(|blamed| blamed.load).chain([blocked.load]);
    let loads = with_equal(&function.body, loads.collect());
    let blamed: BTreeSet<Event> = blamed.map(|blamed| blamed.event).collect();
    let all = loads.iter().map(|load| (load, 0));
    let all = all.chain(blamed.difference(&loads).map(|blamed| (blamed, 1)));
    let end = |event: Event| Some(function.body.function.end_of(function.body.inst(event)?));
    Trial { load, groups: all.filter_map(|(&it, group)| Some((end(it)?, group))).collect() }
}

/// Returns a trial with two groups: all loads from the address of `load`, and all events of the
/// function that may access memory, except fences and accesses to that address.
fn of_all(load: usize, function: &Judged<'_>) -> Trial {
    let body = &function.body;
    let key = |index: usize| body.pointer(index).map(|pointer| body.pointers.address(pointer));
    let place = key(load);
    let is_other = |event: &&Event| event.access().is_none_or(|access| key(access) != place);
    let others = body.events.iter().flatten().filter(is_other).map(|&event| (event, 1));
    let loads = with_equal(body, BTreeSet::from([Event::Access(load)]));
    let loads = loads.into_iter().map(|load| (load, 0));
    let all = others.chain(loads).filter_map(|(event, group)| {
        let inst = body.inst(event).filter(|inst| inst.opcode != Opcode::Fence)?;
        Some((body.function.end_of(inst), group))
    });
    Trial { load, groups: all.collect() }
}

/// Adds the function's other loads from the addresses of `loads`. LLVM ignores the scopes of two
/// loads through one pointer if their scopes differ.
/// LLVM: `MemoryDependenceResults::getNonLocalPointerDepFromBB`.
fn with_equal(body: &Body<'_>, mut loads: BTreeSet<Event>) -> BTreeSet<Event> {
    let place = |event: Event| Some(body.pointers.address(body.pointer(event.access()?)?));
    let places: Vec<Address> = loads.iter().filter_map(|&load| place(load)).collect();
    let is_load = |event| body.inst(event).is_some_and(|inst| inst.opcode == Opcode::Load);
    let is_equal = |event| place(event).is_some_and(|place| places.contains(&place));
    let all = body.events.iter().flatten().copied();
    loads.extend(all.filter(|&event| is_load(event) && is_equal(event)));
    loads
}

/// Returns at most `limit` entries of a list, spread evenly over it.
pub(super) fn spread<T>(all: &[T], limit: usize) -> impl Iterator<Item = &T> {
    let count = all.len().min(limit);
    (0..count).map(move |nth| &all[nth * all.len() / count])
}
