//! `tbaa bisect`: finds the tags that make a program go wrong. A copy is an input module in which
//! only some accesses keep their tags and alias scopes.

mod build;
mod check;
mod judge;
mod report;
mod search;
mod state;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use indexmap::IndexSet;
use tbaa::parts::fnv;
use tbaa_ir::Rewriter;

use super::{Outcome, strip};
use crate::convert::{Origin, Words, words};
use crate::input::Input;
use crate::output::counted;
use crate::progress;
use crate::report::{Context, Failure, Message, Result, bail};
use build::Build;
use check::{Seen, Verdict};
use judge::Judge;
use state::State;

/// Finds the tags that make a program go wrong.
///
/// Runs the command on copies of the module with fewer and fewer tags, and names the fewest accesses whose tags are
/// enough to cause the fault, and the pairs that LLVM takes for different memory because of them. A recipe and
/// `--recorded` then run the program with checks, which say whether the tags are wrong for the program, or LLVM is.
/// To find two accesses among 5,000 takes at most 40 runs. Give it C or C++, or the output of clang's `-O1 -Xclang
/// -disable-llvm-passes`: in optimised code the fault may be there whatever tags are left off.
///
/// In the command `{}` stands for the copy's name; without `{}`, the copy is its standard input.
/// The command's exit status says whether the fault shows.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/bisect.txt"))]
pub(crate) struct Bisect {
    /// A .ll or .bc file, C or C++, or `-`.
    #[arg(required_unless_present = "recorded")]
    pub(crate) input: Option<PathBuf>,
    /// Search all modules of the program that was built by CC='tbaa cc --record DIR'. The
    /// command runs the program in its place.
    #[arg(long, alias = "build", value_name = "DIR")]
    #[arg(conflicts_with_all = ["input", "flags", "recipe"])]
    pub(crate) recorded: Option<PathBuf>,
    /// Run each copy up to N times; one run in which the fault shows is enough.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Flags for clang, where the input is C or C++, quoted as in a shell.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, value_parser = words)]
    pub(crate) flags: Vec<Words>,
    /// Compile and run the program instead of a command.
    #[arg(long, value_enum)]
    pub(crate) recipe: Option<Recipe>,
    /// The flags that a recipe gives to the compiler.
    #[arg(long, alias = "opt", value_name = "FLAGS", default_value = "-O2", requires = "recipe")]
    #[arg(allow_hyphen_values = true, value_parser = words)]
    pub(crate) recipe_flags: Words,
    /// The time limit of a run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) timeout: u64,
    /// Keep answers in this file, to go on with an interrupted search.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Look for this many sets of guilty accesses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sets: usize,
    /// Show what the command prints, on standard error.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// The command, or the program's arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "recipe")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum, Debug)]
pub(crate) enum Recipe {
    /// `opt` and `lli`.
    Run,
    /// `clang`.
    Native,
}

/// The number of extra runs with all tags, and also without tags, to see if results vary.
const MORE_RUNS: u32 = 2;

/// The metadata that an access loses in a copy: its tags and its alias scopes.
const ATTACHED: [&str; 4] = [strip::TAGS[0], strip::TAGS[1], SCOPES[0], SCOPES[1]];
const SCOPES: [&str; 2] = ["alias.scope", "noalias"];

pub(super) fn run(args: &Bisect, out: &mut dyn Write) -> Result<Outcome> {
    let build = args.recorded.as_deref().map(Build::open).transpose()?;
    let inputs = match (&build, &args.input) {
        (Some(build), _) => {
            let open = |path: &Path| {
                let text = std::fs::read(path);
                let text = text.context(format_args!("cannot read {}", path.display()))?;
                Input::of_text(path.display().to_string(), text)
            };
            build.modules().map(open).collect::<Result<Vec<_>, _>>()?
        }
        (None, Some(input)) => {
            let flags = args.flags.iter().flat_map(|flag| &flag.0).map(Into::into);
            vec![Input::open(Origin::new(input, &flags.collect::<Vec<_>>()).as_written())?]
        }
        (None, None) => bail!("name a module, or a recorded build by --recorded"),
    };
    let accesses = Accesses::of(&inputs)?;
    let all: Vec<usize> = (0..accesses.list.len()).collect();
    let mut session = Session::new(args, &inputs, &accesses, build)?;
    let innocent = if all.is_empty() {
        Some("there are none")
    } else if !session.end(&all)? {
        Some("the fault does not show with all of them")
    } else {
        session.end(&[])?.then_some("the fault shows without any of them")
    };
    if let Some(why) = innocent {
        let whose = if args.recorded.is_some() { "the program's" } else { "this module's" };
        let what = if accesses.has_scopes { "tags and alias scopes" } else { "tags" };
        writeln!(out, "{whose} {what} are not to blame: {why}")?;
        if inputs.iter().any(has_scopes_of_calls) {
            writeln!(out, "not looked at: alias scopes of calls, which every copy has")?;
        }
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
        let by_scopes = accesses.has_scopes && !session.once(&guilty, Form::TagsAlone)?;
        let found = report::Found { guilty, cures_alone, cures, more, by_scopes };
        found.write(&inputs, &accesses, |guilty| session.verdict(guilty), out)?;
        if !more || number >= args.sets {
            break;
        }
        left = rest;
    }
    writeln!(out, "{}", counted(session.runs, "run"))?;
    Ok(Outcome::Found)
}

/// The accesses that have tags or alias scopes, in all modules. Accesses of one class are adjacent.
struct Accesses {
    /// For each access: the index of its module, its index there, and its [`class`](Self::class).
    list: Vec<(usize, usize, usize)>,
    has_scopes: bool,
}

/// The form that a copy gives to accesses which keep their tags.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    AsTheyAre,
    TagsAlone,
    /// Run-time checks replace the tags and scopes.
    Checked,
}

/// Returns whether an instruction outside the list of accesses, such as a call, has `!noalias`.
fn has_scopes_of_calls(input: &Input) -> bool {
    let Ok(module) = input.module() else { return false };
    let rewriter = Rewriter::new(module);
    let with = |index: &usize| rewriter.metadata(*index, SCOPES[1]).is_some();
    let accesses = (0..module.instructions().len()).filter(with).count();
    memchr::memmem::find_iter(module.text(), b", !noalias !").count() > accesses
}

impl Accesses {
    fn of(inputs: &[Input]) -> Result<Accesses> {
        let (mut numbers, mut list) = (IndexSet::new(), Vec::new());
        let mut has_scopes = false;
        for (number, input) in inputs.iter().enumerate() {
            let module = input.module()?;
            let names = input.names();
            let rewriter = Rewriter::new(module);
            let mut of_module = HashMap::new();
            for (index, instruction) in module.instructions().iter().enumerate() {
                let scopes = SCOPES.map(|kind| rewriter.metadata(index, kind));
                let attached = (instruction.tag, instruction.copy, scopes);
                if attached == (None, None, [None; 2]) {
                    continue;
                }
                has_scopes |= scopes != [None; 2];
                let class = *of_module.entry(attached).or_insert_with(|| {
                    // Node numbers differ between modules. So tags of several modules are compared
                    // by name, but scopes and `!tbaa.struct` only within one module.
                    let says = match (inputs.len(), attached) {
                        (2.., (Some(tag), None, [None, None])) => names.tag(tag).to_string(),
                        _ => format!("{number} {attached:?}"),
                    };
                    numbers.insert_full(says).0
                });
                list.push((number, index, class));
            }
        }
        list.sort_by_key(|&(_, _, class)| class);
        Ok(Accesses { list, has_scopes })
    }

    /// Returns the index of an access's module, and the access's index there.
    fn instruction(&self, access: usize) -> (usize, usize) {
        let (module, index, _) = self.list[access];
        (module, index)
    }

    /// Returns an access's class: a number that is equal for accesses with equal tags and scopes.
    fn class(&self, access: usize) -> usize {
        self.list[access].2
    }
}

/// A search in one program: runs copies, and records whether the fault shows.
struct Session<'a> {
    args: &'a Bisect,
    inputs: &'a [Input],
    accesses: &'a Accesses,
    judge: Judge<'a>,
    build: Option<Build>,
    state: State,
    /// True if the state file already has the result without any tag.
    resumed: bool,
    runs: u64,
    /// Texts that say what could not be checked in the last copies with checks.
    left_out: Vec<String>,
}

impl<'a> Session<'a> {
    fn new(
        args: &'a Bisect,
        inputs: &'a [Input],
        accesses: &'a Accesses,
        build: Option<Build>,
    ) -> Result<Self> {
        let state = match &args.state {
            None => State::default(),
            Some(path) => {
                let how = format!(
                    "{:?} {:?} {:?} {} {}",
                    args.command, args.recipe, args.recipe_flags, args.timeout, args.repeat
                );
                let text = fnv(inputs.iter().flat_map(Input::text));
                let identity = format!("{text:016x} {:016x}", fnv(how.as_bytes()));
                State::open(path, &identity)?
            }
        };
        let judge = Judge::new(args)?;
        let resumed = state.get(&[]).is_some();
        let (runs, left_out) = (0, Vec::new());
        Ok(Session { args, inputs, accesses, judge, build, state, resumed, runs, left_out })
    }

    /// Returns whether the fault shows if only these accesses keep their tags.
    fn shows(&mut self, kept: &[usize]) -> Result<bool> {
        if self.judge.needs_reference() {
            self.ask(&[])?;
        }
        match self.state.get(kept) {
            Some(shows) => Ok(shows),
            None => self.ask(kept),
        }
    }

    /// Like [`shows`](Self::shows) for all tags or none, but repeats a run that no earlier search
    /// has made. Different results are an error.
    fn end(&mut self, kept: &[usize]) -> Result<bool> {
        // A recipe's first run may already have recorded the result without tags, but did not
        // repeat it. An earlier search did repeat it.
        let known = if kept.is_empty() { self.resumed } else { self.state.get(kept).is_some() };
        let first = self.shows(kept)?;
        if known {
            return Ok(first);
        }
        let mut shown = u32::from(first);
        for _ in 0..MORE_RUNS {
            shown += u32::from(self.ask(kept)?);
        }
        let all = MORE_RUNS + 1;
        if shown == 0 || shown == all {
            return Ok(first);
        }
        let [tags, remedy] = match kept.is_empty() {
            true => [
                "without any tag",
                "compare only what is the same in each run: a process number, an address or a time is not",
            ],
            false => [
                "with all tags",
                "give --repeat 12 or more: then one run of so many is enough to show it",
            ],
        };
        bail!(
            "the program does not answer alike: {tags} the fault shows in {shown} of {all} runs; {remedy}"
        )
    }

    /// Returns whether the fault shows in one of `--repeat` runs. Only the accesses in `kept` have
    /// [`ATTACHED`] metadata then, in the given form.
    fn once(&mut self, kept: &[usize], form: Form) -> Result<bool> {
        let inputs = self.inputs;
        let none = |input: &Input| Ok(vec![false; input.module()?.instructions().len()]);
        let mut keep = inputs.iter().map(none).collect::<Result<Vec<_>>>()?;
        for &access in kept {
            let (module, index) = self.accesses.instruction(access);
            keep[module][index] = true;
        }
        let left_out = &mut self.left_out;
        left_out.clear();
        let mut write = |number: usize, keep: &[bool], file: &mut File| {
            let input = &inputs[number];
            let drop = |index: usize| match (keep[index], form) {
                (false, _) => &ATTACHED[..],
                (true, Form::TagsAlone) => &SCOPES,
                (true, _) => &[],
            };
            if form != Form::Checked {
                return strip::write(input, input.module()?, drop, file);
            }
            let mut text = Vec::new();
            strip::write(input, input.module()?, drop, &mut text)?;
            check::write(input, &text, left_out, file)
        };
        if let Some(build) = &mut self.build {
            build.make(&keep, form, |module, keep, path| {
                write(module, keep, &mut File::create(path)?)
            })?;
        }
        // The checks find a wrong tag even in a run without the fault, so one run is enough.
        let repeat = if form == Form::Checked { 1 } else { self.args.repeat };
        for _ in 0..repeat {
            let shows = match self.build {
                Some(_) => self.judge.tests()?,
                None => self.judge.shows(|file| write(0, &keep[0], file))?,
            };
            self.runs += 1;
            if shows {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs the program with checks of these accesses, and returns what the checks saw.
    fn watch(&mut self, kept: &[usize]) -> Result<Seen> {
        if self.judge.needs_reference() {
            self.ask(&[])?;
        }
        let reports = self.judge.watch()?;
        let shows = self.once(kept, Form::Checked);
        self.judge.unwatch();
        if shows? {
            bail!("it does not do what the program does without tags");
        }
        Seen::read(&reports, std::mem::take(&mut self.left_out))
    }

    /// Checks the guilty accesses at run time and, if that finds no contradiction, all accesses.
    fn verdict(&mut self, guilty: &[usize]) -> Verdict {
        if self.args.recipe.is_none() && self.build.is_none() {
            return Verdict::NotChecked(None);
        }
        let all: Vec<usize> = (0..self.accesses.list.len()).collect();
        let seen = match self.watch(guilty) {
            Ok(seen) if !seen.contradictions.is_empty() => return Verdict::Named(seen),
            Ok(_) => self.watch(&all),
            Err(failure) => Err(failure),
        };
        match seen {
            Ok(seen) if seen.contradictions.is_empty() => Verdict::Clean(seen),
            Ok(seen) => Verdict::Others(seen),
            Err(failure) => Verdict::NotChecked(Some(match failure {
                Failure::Unusable(Message::Plain { text, .. } | Message::Drawn(text)) => text,
                Failure::Output(error) => error.to_string(),
            })),
        }
    }

    fn ask(&mut self, kept: &[usize]) -> Result<bool> {
        let shows = self.once(kept, Form::AsTheyAre)?;
        if self.state.get(kept).is_none() {
            self.state.insert(kept, shows)?;
        }
        let word = if shows { "the fault shows" } else { "no fault" };
        let (run, kept, all) = (self.runs, kept.len(), self.accesses.list.len());
        let line = format!("run {run}: with {kept} of {all} tags: {word}");
        match io::stderr().is_terminal() {
            true => progress::doing(line),
            // If standard error is closed, the failure cannot be reported.
            false => drop(writeln!(io::stderr(), "{line}")),
        }
        Ok(shows)
    }
}
