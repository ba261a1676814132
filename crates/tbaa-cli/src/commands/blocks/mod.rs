//! `tbaa blocks`: what keeps loads from being reused or hoisted.

mod advice;
mod blame;
mod body;
mod flow;
mod proof;
mod prove;
mod show;

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use clap_complete::ArgValueCompleter;
use tbaa_ir::{DebugInfo, Module, Opcode, Sizes};

use super::completions::accesses;
use crate::char_origin::CharOrigins;
use crate::convert::FlagsArg;
use crate::find::{Found, access_name, in_function};
use crate::input::{Content, Input};
use crate::report::{Failure, note};
use advice::Advisor;
use blame::{Blocked, Judge};
use body::Body;
use proof::Sample;
use prove::{Opt, Prover};
use show::{InFunction, Row, Shown};

/// Says which stores and calls keep loads from being reused or hoisted.
///
/// Of each load that an equal access stands before on every way to it, or that a
/// loop repeats with the same pointer: which stores and calls in between may
/// change it, as far as types can tell, why, and what would help. A load that
/// nothing in between may change is not listed unless it is named. The text is
/// best one that has been optimised, as at -O1: where every variable is in
/// memory, no two pointers are equal.
///
/// Control flow is read from labels and branches, and what a call writes from
/// its attributes. Accesses at different bytes from one pointer, and to different
/// variables, are told apart; what LLVM finds out beyond that is not known here.
///
/// With --prove LLVM's opt is asked: the stores that are blamed, and a load
/// without a tag, get scalar types of their own under the same root, and it is
/// shown what then becomes of the load.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa blocks f.ll                the ten loads that matter most
  tbaa blocks f.ll --all          all loads, by function
  tbaa blocks f.ll --loops        those in loops
  tbaa blocks f.ll @f             one
  tbaa blocks f.ll @f f.ll:2      the loads of a line; see `tbaa --help`
  tbaa blocks f.ll @f --prove     and what LLVM makes of it

Exit status:
  0  fine
  2  unusable input or arguments, or opt cannot be asked")]
pub(crate) struct Blocks {
    /// A .ll, .bc, C or C++ file, or `-`.
    pub(crate) input: PathBuf,
    /// A function such as @f, or an access.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) name: Option<String>,
    /// An access in the function.
    #[arg(add = ArgValueCompleter::new(accesses))]
    pub(crate) access: Option<String>,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: BlocksFormat,
    /// List all loads, by function.
    #[arg(long, conflicts_with = "top")]
    pub(crate) all: bool,
    /// List the loads in loops only.
    #[arg(long)]
    pub(crate) loops: bool,
    /// How many loads are listed where no function is named: those in the innermost loops
    /// first, and of these those that a tag could free.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
    /// Ask LLVM what it does without what is blamed.
    #[arg(long)]
    pub(crate) prove: bool,
    /// The opt to ask; LLVM 22's is what the rules follow.
    #[arg(long, value_name = "PROGRAM", default_value = "opt-22")]
    pub(crate) opt: String,
    /// The passes that are asked, of functions.
    #[arg(long, value_name = "PASSES", default_value = "gvn,loop-mssa(licm),gvn")]
    pub(crate) passes: String,
    /// The most loads that LLVM is asked about, spread over all.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) sample: usize,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum BlocksFormat {
    #[default]
    Text,
    Json,
}

/// A function, and its loads that could be reused or hoisted.
struct Function<'t> {
    index: u32,
    body: Body<'t>,
    loads: Vec<Blocked>,
}

pub(super) fn run(args: &Blocks, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(args.flags.of(&args.input))?;
    let opt = Opt { program: &args.opt, passes: &args.passes };
    if args.prove && matches!(input.content, Content::Module(_)) {
        input = Input::of_text(input.file().to_owned(), opt.named(input.text())?)?;
    }
    let wanted = Wanted::read(&mut input, args.name.iter().chain(&args.access))?;
    let module = input.module()?;
    let sizes = Sizes::new(input.text(), module);
    let judge = Judge::new(module, input.text());
    let functions: Vec<Function<'_>> = (0..module.functions().len() as u32)
        .filter(|&function| wanted.has_function(module, function))
        .map(|index| {
            let mut body = Body::read(module, input.text(), &sizes, index);
            let loads = judge.loads(&mut body);
            Function { index, body, loads }
        })
        .collect();
    let sample = match args.prove {
        true => Some(Sample::take(
            &Prover::new(opt, &judge)?,
            &judge,
            &functions,
            |load| wanted.has_load(module, load),
            args.sample,
        )?),
        false => None,
    };
    let names = input.names();
    let debug = &DebugInfo::new(input.text());
    let advisor = Advisor::new(&judge, debug);
    let sample = sample.as_ref();
    let origins = CharOrigins::new(module, input.text());
    let shown =
        Shown { input: &input, names: &names, debug, advisor, judge: &judge, sample, origins };
    let is_listed = |blocked: &&Blocked| {
        wanted.has_load(module, blocked.load)
            && (!args.loops || blocked.depth > 0)
            && (wanted.is_access() || !blocked.blockers.is_empty())
    };
    warn_of_locals(&functions, &judge);
    let is_ranked = wanted.is_all() && !args.all && args.format == BlocksFormat::Text;
    let mut ranked = Vec::new();
    if is_ranked {
        let of = |function| listed_loads(function, is_listed);
        ranked.extend(functions.iter().flat_map(of));
        let is_free = |it: &Blocked| it.blockers.iter().all(|blocker| blocker.cause.is_of_types());
        // What a tag or the program could free in a loop, then what else is in loops.
        ranked.sort_by_key(|(_, it)| (it.depth == 0 || !is_free(it), Reverse(it.depth)));
    }
    if ranked.len() > args.top {
        shown.ranked(&ranked, args.top, out)?;
        if let Some(sample) = sample {
            sample.write(&args.passes, out)?;
        }
        return Ok(());
    }
    let mut listed = 0;
    let mut all = Vec::new();
    if args.format == BlocksFormat::Json {
        say_how_many(functions.iter().flat_map(|function| &function.loads).filter(is_listed));
    }
    for function in &functions {
        let loads: Vec<&Blocked> = function.loads.iter().filter(is_listed).collect();
        listed += loads.len();
        match args.format {
            BlocksFormat::Text => shown.text(function, &loads, wanted.is_all(), out)?,
            BlocksFormat::Json => all.extend(shown.rows(function, &loads)),
        }
    }
    if args.format == BlocksFormat::Json {
        serde_json::to_writer(&mut *out, &shown.document(all)).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if let Some(sample) = sample {
        sample.write(&args.passes, out)?;
    }
    if listed == 0 {
        out.flush()?;
        say_why(module, &wanted);
    }
    Ok(())
}

/// The loads of a function that are listed, with the function.
fn listed_loads<'f, 't>(
    function: &'f Function<'t>,
    is_listed: impl Fn(&&Blocked) -> bool + 'f,
) -> impl Iterator<Item = InFunction<'f, 't>> {
    function.loads.iter().filter(is_listed).map(move |blocked| (function, blocked))
}

/// Warns of code in which local variables are in memory: it is not optimised.
fn warn_of_locals(functions: &[Function<'_>], judge: &Judge<'_>) {
    let mut loads = 0;
    let mut of_locals = 0;
    for function in functions {
        let accesses = in_function(judge.module, function.index);
        for load in accesses.filter(|&it| judge.module.instructions()[it].opcode == Opcode::Load) {
            loads += 1;
            let is_local = |pointer| function.body.is_local_variable(pointer);
            of_locals += usize::from(judge.pointer(load).is_some_and(is_local));
        }
    }
    if of_locals * 3 > loads && loads > 0 {
        note(format!(
            "{of_locals} of {loads} loads are of local variables in memory: this code is not \
             optimised, so most of what is listed vanishes. Give code of -O1 or -O2"
        ));
    }
}

/// Above this many blockers, some 50 MB, it is said how many are written.
const MANY_BLOCKERS: usize = 100_000;

/// Says how many blockers are written, if they are many.
fn say_how_many<'b>(loads: impl Iterator<Item = &'b Blocked>) {
    let blockers: usize = loads.map(|blocked| blocked.blockers.len()).sum();
    if blockers > MANY_BLOCKERS {
        note(format!(
            "{blockers} blockers, an object each; name a function, and only its loads are written"
        ));
    }
}

/// Returns the loads of a module that something keeps, as `--format json` has
/// them, of the first functions up to a number; and how many there are in all.
pub(super) fn kept_loads(input: &Input, most: usize) -> (Vec<Row>, usize) {
    let Content::Module(module) = &input.content else { return (Vec::new(), 0) };
    let sizes = Sizes::new(input.text(), module);
    let judge = Judge::new(module, input.text());
    let names = input.names();
    let debug = &DebugInfo::new(input.text());
    let advisor = Advisor::new(&judge, debug);
    let origins = CharOrigins::new(module, input.text());
    let shown =
        Shown { input, names: &names, debug, advisor, judge: &judge, sample: None, origins };
    let (mut rows, mut all) = (Vec::new(), 0);
    for index in 0..module.functions().len() as u32 {
        let mut body = Body::read(module, input.text(), &sizes, index);
        let loads = judge.loads(&mut body);
        let function = Function { index, body, loads };
        let kept = function.loads.iter().filter(|blocked| !blocked.blockers.is_empty());
        let mut kept: Vec<&Blocked> = kept.collect();
        all += kept.len();
        kept.truncate(most - rows.len());
        rows.extend(shown.rows(&function, &kept));
    }
    (rows, all)
}

/// Says why nothing is listed.
fn say_why(module: &Module, wanted: &Wanted) {
    match &wanted.accesses {
        None => note(
            "no load is kept by a store or call: there is none that is repeated, or LLVM may keep its value",
        ),
        Some(found) => {
            for found in found.iter().filter_map(|found| found.instruction) {
                let name = access_name(module, found);
                note(match module.instructions()[found].opcode {
                    Opcode::Load => format!(
                        "{name}: no equal access stands before this load on every way to it, and no loop repeats it with the same pointer"
                    ),
                    _ => format!("{name} is no load"),
                });
            }
        }
    }
}

/// What the command is asked about.
struct Wanted {
    function: Option<u32>,
    accesses: Option<Vec<Found>>,
}

impl Wanted {
    fn read<'n>(
        input: &mut Input,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Wanted, Failure> {
        let mut wanted = Wanted { function: None, accesses: None };
        for name in names {
            let module = input.module()?;
            match name.strip_prefix('@').filter(|it| !it.contains(':')) {
                Some(function) => {
                    let found = input.function(module, function);
                    wanted.function = Some(found.ok_or_else(|| {
                        let file = input.file();
                        Failure::unusable(format!("{file}: no function @{function} has a body"))
                    })?);
                }
                None => wanted.accesses = Some(input.find(&[name])?.concat()),
            }
        }
        Ok(wanted)
    }

    fn is_all(&self) -> bool {
        self.function.is_none() && self.accesses.is_none()
    }

    fn is_access(&self) -> bool {
        self.accesses.is_some()
    }

    fn has_function(&self, module: &Module, function: u32) -> bool {
        let of = |found: &Found| {
            found.instruction.is_none_or(|it| module.instructions()[it].function == function)
        };
        self.function.is_none_or(|it| it == function)
            && self.accesses.as_ref().is_none_or(|found| found.iter().any(of))
    }

    fn has_load(&self, module: &Module, load: usize) -> bool {
        let instruction = &module.instructions()[load];
        let is = |found: &Found| match found.instruction {
            Some(index) => index == load,
            None => found.tag == instruction.tag,
        };
        self.function.is_none_or(|it| it == instruction.function)
            && self.accesses.as_ref().is_none_or(|found| found.iter().any(is))
    }
}
