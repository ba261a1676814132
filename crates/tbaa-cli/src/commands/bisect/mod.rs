//! `tbaa bisect`: which tags make a program go wrong.

mod args;
mod judge;
mod report;
mod run;
mod search;
mod state;

use std::collections::HashMap;
use std::hash::Hasher;
use std::io::{self, IsTerminal, Write};

use tbaa_ir::Module;

use super::strip::{self, Fnv};
use super::{Outcome, counted};
use crate::convert::Origin;
use crate::input::Input;
use crate::progress;
use crate::report::Failure;
pub(crate) use args::Bisect;
use judge::Judge;
use state::State;

pub(super) fn run(args: &Bisect, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let input = Input::open(Origin::new(&args.input, &args.flags).as_written())?;
    let module = input.module()?;
    let accesses = Accesses::of(module);
    let all: Vec<usize> = (0..accesses.len()).collect();
    let mut session = Session::new(args, &input, module, &accesses)?;
    let innocent = if all.is_empty() {
        Some("there are none")
    } else if !session.shows(&all)? {
        Some("the fault does not show with all of them")
    } else if session.shows(&[])? {
        Some("the fault shows without any of them")
    } else {
        None
    };
    if let Some(why) = innocent {
        writeln!(out, "the tags are not to blame: {why}")?;
        return Ok(Outcome::Fine);
    }
    let mut left = all;
    for number in 1.. {
        let class = |access| accesses.class(access);
        let guilty = search::smallest(left.clone(), class, |kept| session.shows(kept))?;
        let without = |off: &dyn Fn(usize) -> bool| -> Vec<usize> {
            left.iter().copied().filter(|&access| !off(access)).collect()
        };
        let cures_alone = !session.shows(&without(&|access| guilty.contains(&access)))?;
        let mut classes: Vec<usize> = guilty.iter().map(|&access| class(access)).collect();
        classes.dedup();
        let mut cures = Vec::new();
        for &of in &classes {
            cures.push((of, !session.shows(&without(&|access| class(access) == of))?));
        }
        let rest = without(&|access| classes.contains(&class(access)));
        let more =
            !cures_alone && cures.iter().all(|&(_, cures)| !cures) && session.shows(&rest)?;
        let found = report::Found { guilty, cures_alone, cures, more };
        found.write(&input, module, &accesses, out)?;
        if !more || number >= args.sets {
            break;
        }
        left = rest;
    }
    writeln!(out, "{}", counted(session.runs, "run", "runs"))?;
    Ok(Outcome::Found)
}

/// The tagged accesses of a module, those with one tag after each other.
struct Accesses {
    /// The index of each in the module, and of its tag.
    list: Vec<(usize, usize)>,
}

impl Accesses {
    fn of(module: &Module) -> Accesses {
        let mut classes = HashMap::new();
        let mut list = Vec::new();
        for (index, instruction) in module.instructions().iter().enumerate() {
            let attached = (instruction.tag, instruction.copy);
            if attached != (None, None) {
                let next = classes.len();
                list.push((index, *classes.entry(attached).or_insert(next)));
            }
        }
        list.sort_by_key(|&(_, class)| class);
        Accesses { list }
    }

    fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns an access's index in the module.
    fn instruction(&self, access: usize) -> usize {
        self.list[access].0
    }

    /// Returns which tag it has, by order of first appearance.
    fn class(&self, access: usize) -> usize {
        self.list[access].1
    }

    /// Returns how many accesses have a tag.
    fn count(&self, class: usize) -> u64 {
        self.list.iter().filter(|access| access.1 == class).count() as u64
    }
}

/// Questions about one module, and the answers.
struct Session<'a> {
    input: &'a Input,
    module: &'a Module,
    accesses: &'a Accesses,
    judge: Judge<'a>,
    state: State,
    runs: u64,
}

impl<'a> Session<'a> {
    fn new(
        args: &'a Bisect,
        input: &'a Input,
        module: &'a Module,
        accesses: &'a Accesses,
    ) -> Result<Self, Failure> {
        let state = match &args.state {
            None => State::new(),
            Some(path) => {
                let mut command = Fnv::default();
                for word in &args.command {
                    command.write(word.as_encoded_bytes());
                    command.write(&[0]);
                }
                let how = format!("{:?} {} {}", args.recipe, args.opt, args.timeout);
                command.write(how.as_bytes());
                let mut text = Fnv::default();
                text.write(input.text());
                let identity = format!("{:016x} {:016x}", text.finish(), command.finish());
                State::open(path, &identity)?
            }
        };
        let judge = Judge::new(args)?;
        Ok(Session { input, module, accesses, judge, state, runs: 0 })
    }

    /// Returns whether the fault shows where these accesses alone keep their
    /// tags.
    fn shows(&mut self, kept: &[usize]) -> Result<bool, Failure> {
        if self.judge.needs_reference() {
            self.ask(&[])?;
        }
        match self.state.get(kept) {
            Some(shows) => Ok(shows),
            None => self.ask(kept),
        }
    }

    fn ask(&mut self, kept: &[usize]) -> Result<bool, Failure> {
        let mut keep = vec![false; self.module.instructions().len()];
        for &access in kept {
            keep[self.accesses.instruction(access)] = true;
        }
        let (input, module) = (self.input, self.module);
        let shows =
            self.judge.shows(|file| strip::write(input, module, |index| keep[index], file))?;
        self.runs += 1;
        if self.state.get(kept).is_none() {
            self.state.insert(kept, shows)?;
        }
        let word = if shows { "the fault shows" } else { "it is gone" };
        let line = format!(
            "run {}: {} of {} tags kept: {word}",
            self.runs,
            kept.len(),
            self.accesses.len()
        );
        match io::stderr().is_terminal() {
            true => progress::doing(line),
            // Nobody is left to be told when standard error is closed.
            false => drop(writeln!(io::stderr(), "{line}")),
        }
        Ok(shows)
    }
}
