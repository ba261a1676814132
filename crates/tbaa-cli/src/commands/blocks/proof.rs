//! How often LLVM bears out what is blamed: in a sample of the loads.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use serde::Serialize;
use tbaa_check::blocks::{Blocked, Cause, Judge, Judged, Wanted};
use tbaa_ir::{Address, Opcode};

use super::super::{counted, percent};
use super::prove::{Outcome, Prover, Trial};
use crate::find::in_function;
use crate::report::Failure;

/// What LLVM made of the loads that it was asked about.
pub(super) struct Sample {
    /// With what is blamed tagged apart.
    outcomes: HashMap<usize, Outcome>,
    /// The loads that it removes or moves as the module is.
    gone: HashSet<usize>,
    pub(super) figures: Figures,
}

#[derive(Serialize, Default)]
pub(super) struct Figures {
    /// Loads that the passes keep and that only stores are blamed for.
    blamed: usize,
    /// Of these, the loads that LLVM was asked about.
    asked: usize,
    /// Of these, the ones that LLVM removes or hoists with the blamed stores
    /// tagged apart.
    gone: usize,
    /// Other loads, blamed or not, that LLVM was asked about with all stores to
    /// other places tagged apart.
    tried: usize,
    /// Of these, the ones that LLVM then removes or hoists.
    gone_of_tried: usize,
    /// Of these, the ones that it also does with only the blamed tagged apart.
    found: usize,
}

impl Sample {
    /// Asks about `limit` loads at most for each figure, spread over all that
    /// `has_load` admits.
    pub(super) fn take(
        prover: &Prover<'_>,
        judge: &Judge<'_>,
        functions: &[Judged<'_>],
        has_load: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Result<Sample, Failure> {
        let mut figures = Figures::default();
        let is_open = |load: usize| has_load(load) && prover.is_kept(load);
        let all = functions.iter().flat_map(|function| &function.loads);
        let blocked: HashMap<usize, &Blocked> = all.map(|it| (it.load, it)).collect();
        let blamed: Vec<&Blocked> = functions
            .iter()
            .flat_map(|function| &function.loads)
            .filter(|it| is_open(it.load) && is_of_types(it))
            .collect();
        figures.blamed = blamed.len();
        let trials: Vec<Trial> = spread(&blamed, limit).map(|it| of_blamed(it)).collect();
        let answers = prover.ask(&trials)?;
        let mut outcomes: HashMap<usize, Outcome> =
            trials.iter().map(|it| it.load).zip(answers).collect();
        figures.asked = outcomes.len();
        figures.gone = outcomes.values().filter(|&&it| it != Outcome::Kept).count();

        let others: Vec<Trial> = functions
            .iter()
            .flat_map(|function| every_store(judge, function))
            .filter(|trial| is_open(trial.load))
            .collect();
        let others: Vec<Trial> = spread(&others, limit).cloned().collect();
        figures.tried = others.len();
        let answers = prover.ask(&others)?;
        let gone = others.iter().zip(&answers).filter(|&(_, &it)| it != Outcome::Kept);
        let gone: Vec<usize> = gone.map(|(trial, _)| trial.load).collect();
        figures.gone_of_tried = gone.len();
        let known = gone.iter().filter_map(|load| blocked.get(load));
        let trials: Vec<Trial> = known
            .filter(|it| !outcomes.contains_key(&it.load))
            .map(|it| of_blamed(it))
            .filter(|trial| !trial.retagged.is_empty())
            .collect();
        let answers = prover.ask(&trials)?;
        outcomes.extend(trials.iter().map(|it| it.load).zip(answers));
        let is_found = |load: &&usize| outcomes.get(load).is_some_and(|&it| it != Outcome::Kept);
        figures.found = gone.iter().filter(is_found).count();
        let is_gone = |&load: &usize| judge.is_load(load) && !prover.is_kept(load);
        let gone = blocked.keys().copied().filter(is_gone).collect();
        Ok(Sample { outcomes, gone, figures })
    }

    /// What became of a load; `None` if LLVM was not asked about it.
    pub(super) fn outcome(&self, load: usize) -> Option<Outcome> {
        self.outcomes.get(&load).copied()
    }

    /// Whether LLVM removes or moves a load as the module is.
    pub(super) fn is_gone(&self, load: usize) -> bool {
        self.gone.contains(&load)
    }

    pub(super) fn write(&self, passes: &str, out: &mut dyn Write) -> io::Result<()> {
        let Figures { blamed, asked, gone, tried, gone_of_tried, found } = self.figures;
        writeln!(
            out,
            "{passes} leaves {} that stores alone block. LLVM was asked about {asked} of them: with \
             tags that separate the blamed stores, {gone} go ({}).",
            counted(blamed as u64, "load", "loads"),
            percent(gone as u64, asked as u64)
        )?;
        writeln!(
            out,
            "Of {tried} other loads that it leaves, {gone_of_tried} go with tags that separate all \
             stores to other places; {found} of these go with the blamed ones alone ({}).",
            percent(found as u64, gone_of_tried as u64)
        )
    }
}

/// Whether tags of their own could free the load from all that is blamed.
pub(super) fn is_of_types(blocked: &Blocked) -> bool {
    let is_load = !matches!(blocked.wanted, Wanted::Sink(_) | Wanted::Vectorise(_));
    is_load && !blocked.blockers.is_empty() && Cause::are_of_types(&blocked.blockers)
}

/// New types: a load without a tag needs one that is not the stores'.
const BLAMED: usize = 0;
const LOADED: usize = 1;

/// Tags of their own for what is blamed.
fn of_blamed(blocked: &Blocked) -> Trial {
    let accesses = blocked.blockers.iter().filter(|it| it.cause.is_of_types());
    let blamed = accesses.filter_map(|it| Some((it.event.access()?, BLAMED)));
    let untagged = blocked.blockers.iter().filter(|it| it.cause == Cause::LoadNoTag);
    let retagged = blamed.chain(untagged.map(|it| (it.load, LOADED))).collect();
    Trial { load: blocked.load, retagged }
}

/// Of each plain load of a function: tags of their own for all that writes, but
/// for what writes to the same place.
fn every_store(judge: &Judge<'_>, function: &Judged<'_>) -> Vec<Trial> {
    let instruction = |index: usize| &judge.module.instructions()[index];
    let key = |index: usize| {
        function.body.pointer(index).map(|pointer| function.body.pointers.address(pointer))
    };
    let all = in_function(judge.module, function.index);
    let stores: Vec<(usize, Option<Address>)> = all
        .clone()
        .filter(|&it| matches!(instruction(it).opcode, Opcode::Store | Opcode::Call))
        .map(|it| (it, key(it)))
        .collect();
    let loads = all.filter(|&it| {
        let it = instruction(it);
        it.opcode == Opcode::Load && !it.volatile && !it.atomic
    });
    loads
        .map(|load| {
            let place = key(load);
            let others = stores.iter().filter(|(_, key)| *key != place);
            let others = others.map(|&(store, _)| (store, BLAMED));
            let own = instruction(load).tag.is_none().then_some((load, LOADED));
            Trial { load, retagged: others.chain(own).collect() }
        })
        .collect()
}

/// So many of a list at most, spread evenly over it.
pub(super) fn spread<T>(all: &[T], limit: usize) -> impl Iterator<Item = &T> {
    let count = all.len().min(limit);
    (0..count).map(move |nth| &all[nth * all.len() / count])
}
