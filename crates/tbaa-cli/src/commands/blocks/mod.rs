//! `tbaa blocks`: finds stores and calls (blockers) that stop LLVM from reusing or hoisting loads.

mod advice;
mod profile;
mod remarks;
mod show;
mod source;

use std::cmp::Reverse;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use serde_json::Value;
use tbaa_check::blocks::{
    AskError, Blocked, Cause, Event, Judge, Judged, Opt, Prover, Sample, Wanted as Could, loops,
};
use tbaa_ir::{DebugInfo, Effects, Module, Opcode, Sizes};

use super::completions::accesses;
use crate::convert::FlagsArg;
use crate::find::{Found, access_name, names_access};
use crate::input::{Content, Input};
use crate::output::{counted, for_each_input, write_json};
use crate::printable::printable_path;
use crate::progress;
use crate::report::{Failure, Result, bail, note};
use crate::tools::{cannot_run, tool};
use profile::Profile;
use show::{InFunction, Row, Shown};
use source::SourceLine;

/// Says which stores and calls force LLVM to load a value again.
///
/// Finds loads that LLVM could have reused or hoisted, lists the stores and calls that prevent it, says why the
/// types cannot rule them out, and how to fix it. Give it optimised code (-O1 or higher). In unoptimised code
/// each variable lives in a stack slot, so equal pointers cannot be recognised.
///
/// The command reads the flow of control, and the attributes that say what a call may write. It
/// also knows that different bytes from one pointer, and different variables, never overlap. LLVM
/// knows more about pointers, so it may remove a load that is listed here.
///
/// With --prove it asks LLVM's opt. Alias scopes say that the blamed stores and calls are to other
/// memory, and the command prints whether LLVM then removes the load, or moves it out of its loop.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/blocks.txt"))]
pub(crate) struct Blocks {
    /// A .ll, .bc, C or C++ file, or `-`; without it, the files of --build.
    #[arg(required_unless_present = "build")]
    pub(crate) input: Option<PathBuf>,
    /// A function such as @f, or an access.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) name: Option<String>,
    /// An access in the function.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) access: Option<String>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: BlocksFormat,
    /// Show the lines of the source, with what each reloads and what each is blamed for.
    /// The input needs debug information (-g), and the source must be where it was.
    #[arg(long, conflicts_with = "format")]
    pub(crate) source: bool,
    /// List all loads, by function.
    #[arg(long, conflicts_with = "top")]
    pub(crate) all: bool,
    /// List the loads in loops only.
    #[arg(long)]
    pub(crate) loops: bool,
    /// List at most this many loads if no function or access is named. Loads in loops come first
    /// if a change of tags alone could remove them, then loads in the innermost loops.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
    /// List the hottest loads first. FILE: what `perf script --no-demangle -F ip,sym,srcline`
    /// prints of a run. Without it the counts of clang's -fprofile-instr-use are used, if
    /// the module has them. The input needs debug information (-g).
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Ask LLVM whether it removes a load if the blamed stores and calls are to other memory.
    #[arg(long)]
    pub(crate) prove: bool,
    /// The opt to run [default: opt-22, or else the newest opt].
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) opt: Option<String>,
    /// The function passes that opt runs.
    #[arg(long, value_name = "PASSES", default_value = "gvn,loop-mssa(licm),gvn")]
    pub(crate) passes: String,
    /// Ask LLVM about at most N loads, spread over all.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) sample: usize,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum BlocksFormat {
    #[default]
    Text,
    /// One object for each load.
    Json,
    /// SARIF 2.1.0, which editors and code hosts show at the lines of the source.
    Sarif,
    /// LLVM's optimisation records, as clang's -fsave-optimization-record writes them.
    Yaml,
}

/// Returns a message that says why LLVM's opt gives no answer, and what to do.
fn not_asked(error: &AskError) -> String {
    match error {
        AskError::NotRun(program, error) => cannot_run(program, error, "name LLVM's opt by --opt"),
        AskError::Failed(why) => why.clone(),
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        Failure::unusable(not_asked(&error))
    }
}

pub(super) fn run(args: &Blocks, out: &mut dyn Write) -> Result {
    let inputs = args.flags.inputs(args.input.as_slice())?;
    let mut results = Vec::new();
    let unusable = for_each_input(&inputs, |path| {
        if inputs.len() > 1 && args.format == BlocksFormat::Text {
            writeln!(out, "== {} ==", printable_path(path))?;
        }
        one(args, path, &mut results, out)
    })?;
    if let Some(failure) = unusable {
        out.flush()?;
        return Err(failure);
    }
    if args.format == BlocksFormat::Sarif {
        remarks::write_sarif(results, out)?;
    }
    Ok(())
}

/// Analyses one input. Adds its results for SARIF to `results`.
fn one(args: &Blocks, path: &Path, results: &mut Vec<Value>, out: &mut dyn Write) -> Result {
    let mut input = Input::open(args.flags.of(path))?;
    let tell = |work: String| progress::doing(work);
    let program = args.opt.clone().unwrap_or_else(|| tool("opt"));
    let opt = args.prove.then(|| Opt { program: program.clone(), passes: &args.passes, tell });
    let names = || args.name.iter().chain(&args.access);
    let mut wanted = Wanted::read(&mut input, names())?;
    if let Some(opt) = &opt
        && matches!(input.content, Content::Module(_))
    {
        let module = input.module()?;
        let is_of_function = args.name.is_some() && names().all(|name| name.starts_with('@'));
        let function = wanted.function(module).filter(|_| is_of_function);
        let name = function.and_then(|function| module.functions().nth(function as usize));
        let (text, accesses) = (input.text().to_vec(), module.instructions().len());
        // The text from opt has other line and node numbers, but the same order of accesses.
        wanted = wanted.by_access(module);
        let is_cut = name.is_some();
        let text = name.map_or(text.clone(), |name| opt.cut(text, name));
        input = Input::of_text(input.file().to_owned(), opt.named(&text)?)?;
        if is_cut {
            wanted = Wanted::read(&mut input, names())?;
        } else if !wanted.is_all() && input.module()?.instructions().len() != accesses {
            bail!("LLVM changes the accesses of this module as it reads it; name a function");
        }
    }
    let module = input.module()?;
    let sizes = Sizes::new(module);
    let effects = Effects::new(module);
    let judge = Judge::new(module, &sizes, &effects);
    let mut functions = judge.functions(|judge| wanted.has_function(module, judge));
    let debug = &DebugInfo::new(module);
    let mut sample = None;
    if let Some(opt) = opt {
        let prover = Prover::new(opt, &judge)?;
        let is_wanted = |load| wanted.has_load(module, load);
        let name = |load| access_name(module, load);
        sample = Some(Sample::take(&prover, &functions, is_wanted, args.sample, name)?);
        for (function, of) in loops(&prover, &functions, debug, is_wanted, args.sample)? {
            functions[function].loads.push(of);
        }
    }
    let names = input.names();
    let sample = sample.as_ref();
    let profile = Profile::of(args.profile.as_deref(), &program, &judge, &functions, debug)?;
    profile.sort(&mut functions);
    let shown = Shown::new(&input, &names, debug, &judge, sample, profile);
    let is_listed = |blocked: &&Blocked| {
        (wanted.has_event(module, blocked.load) || matches!(blocked.wanted, Could::Vectorise(_)))
            && (!args.loops || blocked.depth > 0)
            && (wanted.is_access() || !blocked.blockers.is_empty())
    };
    warn_of_locals(&functions, &judge);
    let mut loads = listed_loads(&functions, is_listed);
    let is_top = wanted.is_all() && !args.all;
    if !shown.profile.is_empty() {
        rank(&mut loads, &shown.profile);
    }
    match args.format {
        BlocksFormat::Text if args.source => {
            rank(&mut loads, &shown.profile);
            let groups = shown.groups(&loads);
            let most = if is_top { args.top } else { usize::MAX };
            let loads = groups.iter().take(most).flatten();
            let rows: Vec<Row> = loads.map(|load| shown.row(load.0, load.1)).collect();
            source::write(&rows, &shown, out)?;
            if let Some(more @ 1..) = groups.len().checked_sub(most) {
                let more = counted(more, "more load");
                note(format!("and {more}; --top COUNT shows as many, --all shows all"));
            }
        }
        BlocksFormat::Text if is_top && loads.len() > args.top => {
            rank(&mut loads, &shown.profile);
            shown.ranked(&loads, args.top, out)?;
        }
        BlocksFormat::Text => {
            for function in &functions {
                let of: Vec<&Blocked> = function.loads.iter().filter(is_listed).collect();
                shown.text(function, &of, wanted.is_all(), out)?;
            }
        }
        BlocksFormat::Json | BlocksFormat::Sarif | BlocksFormat::Yaml => {
            let blockers: usize = loads.iter().map(|load| load.1.blockers.len()).sum();
            if args.format == BlocksFormat::Json && blockers > MANY_BLOCKERS {
                let less = "name a function to write only its loads";
                note(format!("writing {blockers} blockers, one object each; {less}"));
            }
            let rows: Vec<Row> = loads.iter().map(|load| shown.row(load.0, load.1)).collect();
            match args.format {
                BlocksFormat::Sarif => results.extend(remarks::sarif(&rows, &input)),
                BlocksFormat::Yaml => remarks::yaml(&rows, out)?,
                _ => write_json(&shown.document(rows), out)?,
            }
        }
    }
    if let (Some(sample), BlocksFormat::Text) = (sample, args.format) {
        show::proof(&sample.figures, &args.passes, out)?;
    }
    if loads.is_empty() {
        out.flush()?;
        say_why(module, &wanted);
    }
    Ok(())
}

/// Sorts the hottest loads first. Among equally hot loads, loads in a loop come first if tags alone
/// could remove their blockers, and then loads in more loops.
fn rank(loads: &mut [InFunction<'_, '_>], profile: &Profile) {
    let is_free = |blocked: &Blocked| Cause::are_of_types(&blocked.blockers);
    loads.sort_by_key(|(_, it)| {
        (profile.coldness(it), it.depth == 0 || !is_free(it), Reverse(it.depth))
    });
}

fn listed_loads<'f, 't>(
    functions: &'f [Judged<'t>],
    is_listed: impl Fn(&&Blocked) -> bool,
) -> Vec<InFunction<'f, 't>> {
    let all = functions.iter().flat_map(|of| of.loads.iter().map(move |load| (of, load)));
    all.filter(|(_, load)| is_listed(load)).collect()
}

/// Warns if more than a third of the loads are of local variables: such code is not optimised.
fn warn_of_locals(functions: &[Judged<'_>], judge: &Judge<'_>) {
    let (mut loads, mut of_locals) = (0, 0);
    for Judged { body, index, .. } in functions {
        let is_load = |&at: &usize| judge.module.instructions()[at].opcode == Opcode::Load;
        for load in judge.module.accesses_of(*index).filter(is_load) {
            loads += 1;
            let is_local = |pointer| body.pointers.is_private_variable(pointer);
            of_locals += usize::from(body.pointer(load).is_some_and(is_local));
        }
    }
    if of_locals * 3 > loads && loads > 0 {
        note(format!(
            "{of_locals} of {loads} loads are of local variables in memory: this code is not \
             optimised, and an optimiser removes most of what is listed. Give code of -O1 or -O2"
        ));
    }
}

/// JSON with more blockers than this (some 50 MB) comes with a note that says how many there are.
const MANY_BLOCKERS: usize = 100_000;

/// A load, and the lines of the source around it, if they can be read.
pub(super) type LoadInSource = (Row, Vec<SourceLine>);

/// Groups the blocked loads in the order of [`rank`]. Returns the first load of each of the first
/// `most` groups, and the number of all groups.
pub(super) fn blocked_loads(
    input: &Input,
    profile: Option<&Path>,
    most: usize,
) -> Result<(Vec<LoadInSource>, usize)> {
    let Content::Module(module) = &input.content else { return Ok((Vec::new(), 0)) };
    let sizes = Sizes::new(module);
    let effects = Effects::new(module);
    let judge = Judge::new(module, &sizes, &effects);
    let names = input.names();
    let debug = &DebugInfo::new(module);
    let functions = judge.functions(|_| true);
    let profile = Profile::of(profile, &tool("opt"), &judge, &functions, debug)?;
    let shown = Shown::new(input, &names, debug, &judge, None, profile);
    let is_blocked = |blocked: &&Blocked| !blocked.blockers.is_empty();
    let mut loads = listed_loads(&functions, is_blocked);
    rank(&mut loads, &shown.profile);
    let groups = shown.groups(&loads);
    let count = groups.len();
    let rows = groups.into_iter().take(most).map(|group| {
        let row = shown.row(group[0].0, group[0].1);
        let lines = source::around(&row, &shown);
        (row, lines)
    });
    Ok((rows.collect(), count))
}

fn say_why(module: &Module<'_>, wanted: &Wanted) {
    match &wanted.accesses {
        None if module.functions().len() == 0 => note("no function here has a body"),
        None => note(
            "nothing blocks a load here: no load is repeated, LLVM can already reuse its value, or \
             not every turn of a loop comes to the load. If a loop is slow, this is not why: --prove \
             also looks for loops without vectors, and `clang -O2 -Rpass-missed=loop-vectorize` gives \
             reasons that are no types",
        ),
        Some(found) => {
            for at in found.iter().filter_map(|found| found.instruction) {
                let name = access_name(module, at);
                note(match module.instructions()[at].opcode {
                    Opcode::Load => format!(
                        "{name}: no earlier access has this load's value on every way to it, and no loop repeats the load with the same pointer"
                    ),
                    _ => format!("{name} is not a load"),
                });
            }
        }
    }
}

/// Returns whether `found` is the instruction `at`, or the tag of this instruction.
fn is(module: &Module<'_>, found: &Found, at: usize) -> bool {
    match found.instruction {
        Some(instruction) => instruction == at,
        None => found.tag == module.instructions()[at].tag,
    }
}

/// The function and the accesses that the user names. `None` stands for all.
struct Wanted {
    function: Option<u32>,
    accesses: Option<Vec<Found>>,
}

impl Wanted {
    fn read<'n>(input: &mut Input, names: impl Iterator<Item = &'n String>) -> Result<Wanted> {
        let mut wanted = Wanted { function: None, accesses: None };
        for name in names {
            let module = input.module()?;
            match name.strip_prefix('@').filter(|name| !names_access(name)) {
                Some(function) => {
                    let function = Some(input.function(module, function)?);
                    if wanted.function.is_some_and(|wanted| Some(wanted) != function) {
                        bail!("name one function: `blocks` is asked about one, or about all");
                    }
                    wanted.function = function;
                }
                None => wanted.accesses = Some(input.find(&[name])?.concat()),
            }
        }
        Ok(wanted)
    }

    /// Returns the named function, or else the function of the first named access. Returns `None`
    /// if a named access is not in that function.
    fn function(&self, module: &Module<'_>) -> Option<u32> {
        let of = |found: &Found| Some(module.instructions()[found.instruction?].function);
        let accesses = || self.accesses.iter().flatten().map(of);
        let first = self.function.or_else(|| accesses().next()?)?;
        accesses().all(|access| access == Some(first)).then_some(first)
    }

    /// Replaces each wanted tag by the accesses that have it.
    fn by_access(mut self, module: &Module<'_>) -> Wanted {
        let all = |found: Found| {
            let all = (0..module.instructions().len()).filter(move |&at| is(module, &found, at));
            all.map(|at| Found {
                tag: None,
                instruction: Some(at),
                access: tbaa::Access::default(),
            })
        };
        self.accesses = self.accesses.map(|found| found.into_iter().flat_map(all).collect());
        self
    }

    fn is_all(&self) -> bool {
        self.function.is_none() && self.accesses.is_none()
    }

    fn is_access(&self) -> bool {
        self.accesses.is_some()
    }

    fn has_function(&self, module: &Module<'_>, function: u32) -> bool {
        let function_of = |at: usize| module.instructions()[at].function;
        self.admits(function, |found| {
            found.instruction.is_none_or(|at| function_of(at) == function)
        })
    }

    /// Returns whether an event is wanted. A call that is not an access has no name, so it is
    /// wanted unless the user names accesses.
    fn has_event(&self, module: &Module<'_>, event: Event) -> bool {
        event.access().map_or(!self.is_access(), |access| self.has_load(module, access))
    }

    fn has_load(&self, module: &Module<'_>, load: usize) -> bool {
        self.admits(module.instructions()[load].function, |found| is(module, found, load))
    }

    fn admits(&self, function: u32, is: impl Fn(&Found) -> bool) -> bool {
        self.function.is_none_or(|it| it == function)
            && self.accesses.as_ref().is_none_or(|found| found.iter().any(is))
    }
}
