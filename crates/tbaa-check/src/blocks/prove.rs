//! Asks LLVM whether it would remove or hoist a load if certain stores and calls could not change
//! the loaded value. Alias scopes on the load, the stores and the calls tell LLVM so.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tbaa_ir::{Edits, Flow, Module, Opcode, Sizes};

use super::Judge;

/// The reason why an LLVM program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The program cannot be started.
    #[error("cannot run {0}: {1}")]
    NotRun(String, std::io::Error),
    /// The program failed, or its output cannot be read.
    #[error("{0}")]
    Failed(String),
}

pub(super) fn read(text: &[u8]) -> Result<Module<'_>, AskError> {
    let cannot = |error| AskError::Failed(format!("cannot read what opt wrote: {error}"));
    tbaa_ir::read(text).map_err(cannot)
}

/// What LLVM does with a load if alias scopes are added, compared with the unmodified module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The load stays in its block, with and without the scopes.
    Kept,
    /// The load moves to another block, and without the scopes to that block too.
    Moved,
    /// The load is in another block than without the scopes, but not in fewer loops.
    Elsewhere,
    /// The load is gone.
    Removed,
    /// The load is in fewer loops than without the scopes.
    Hoisted,
}

impl Outcome {
    /// Returns whether the load runs less often than without the scopes.
    pub fn is_gone(self) -> bool {
        matches!(self, Outcome::Removed | Outcome::Hoisted)
    }
}

/// Groups of accesses of one function. Alias scopes tell LLVM that no two groups overlap.
#[derive(Clone)]
pub(super) struct Trial {
    /// The load whose [`Outcome`] is wanted; for a question about a loop, any access in it.
    pub(super) load: usize,
    /// For each instruction, the byte offset of its end in the module's text, and its group.
    pub(super) groups: Vec<(usize, usize)>,
}

/// The program `opt`, and the passes that it runs.
pub struct Opt<'a> {
    /// The program.
    pub program: String,
    /// The function passes, as `opt -passes` takes them.
    pub passes: &'a str,
    /// Called with a description of the work that begins, to show it to the user.
    pub tell: fn(String),
}

impl Opt<'_> {
    /// Returns the text with a name for every value, so that values can be found in LLVM's output.
    ///
    /// # Errors
    ///
    /// LLVM cannot be run, or fails.
    pub fn named(&self, text: &[u8]) -> Result<Vec<u8>, AskError> {
        self.run(text, "instnamer")
    }

    fn optimised(&self, text: &[u8]) -> Result<Vec<u8>, AskError> {
        self.run(text, &format!("function({})", self.passes))
    }

    fn with_vectors(&self) -> String {
        format!("function({},loop-vectorize)", self.passes)
    }

    /// Extracts one function, which LLVM optimises in much less time than the whole module. Returns
    /// the whole text if `llvm-extract` fails, or if the function's name is not UTF-8.
    pub fn cut(&self, text: Vec<u8>, function: &[u8]) -> Vec<u8> {
        let (folder, name) = match self.program.rfind('/') {
            Some(at) => self.program.split_at(at + 1),
            None => ("", &*self.program),
        };
        let program = format!("{folder}{}", name.replacen("opt", "llvm-extract", 1));
        let Ok(function) = std::str::from_utf8(function) else { return text };
        let only = format!("--func={function}");
        ask(&program, &["-S", "-o", "-", &only, "-"], &text).map_or(text, |ask| ask.stdout)
    }

    fn run(&self, text: &[u8], passes: &str) -> Result<Vec<u8>, AskError> {
        let passes = format!("-passes={passes}");
        ask(&self.program, &["-S", "-o", "-", &passes, "-"], text).map(|ask| ask.stdout)
    }
}

/// How often each block of a function runs, in block order; `None` if LLVM knows no count.
pub type BlockCounts = Vec<Option<u64>>;

/// Returns how often the blocks of each function run in a profiled module, by the function's name.
/// The counts come from LLVM's `print<block-freq>`.
///
/// # Errors
///
/// LLVM cannot be run, or fails.
pub fn block_counts(opt: &str, text: &[u8]) -> Result<HashMap<Vec<u8>, BlockCounts>, AskError> {
    let arguments = ["-disable-output", "-passes=print<block-freq>", "-"];
    let printed = ask(opt, &arguments, text)?.stderr;
    let (mut by_name, mut blocks) = (HashMap::<_, BlockCounts>::new(), None);
    for line in printed.split(|&byte| byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"block-frequency-info: ") {
            blocks = Some(by_name.entry(name.to_owned()).or_default());
        } else if let Some(blocks) = blocks.as_mut().filter(|_| line.starts_with(b" - ")) {
            let count = memchr::memmem::rfind(line, b", count = ").map(|at| &line[at + 10..]);
            blocks.push(count.and_then(|it| str::from_utf8(it).ok()?.parse().ok()));
        }
    }
    Ok(by_name)
}

fn ask(program: &str, arguments: &[&str], text: &[u8]) -> Result<Output, AskError> {
    let fail = |why: String| AskError::Failed(format!("cannot ask {program}: {why}"));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| AskError::NotRun(program.to_owned(), error))?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // A failed write is ignored: if the program ends early, its exit status reports that.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(text)));
        child.wait_with_output()
    });
    let output = output.map_err(|error| fail(error.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(fail(format!("{}, {}", output.status, errors.lines().next().unwrap_or("it says nothing"))))
}

/// A block that contains a load: the number of loops around the block, and the block's label.
type Place = (usize, String);

/// The blocks of loads, by function and by the name of the loaded value. If LLVM moves a load into
/// a predecessor, it appends `.pre` to the name.
/// LLVM: `GVNPass::eliminatePartiallyRedundantLoad`.
struct Places(HashMap<Vec<u8>, HashMap<String, BTreeSet<Place>>>);

impl Places {
    /// Finds the loads of the functions whose names are `wanted`. `written` holds the loads of the
    /// module before LLVM optimised it; a name that `written` lacks is cut at `.pre`.
    fn of(
        text: &[u8],
        wanted: &HashSet<&[u8]>,
        written: Option<&Places>,
    ) -> Result<Places, AskError> {
        let module = read(text)?;
        let sizes = Sizes::new(&module);
        let mut places = HashMap::new();
        for (function, name) in (0..).zip(module.functions()) {
            if !wanted.contains(name) {
                continue;
            }
            let body = module.function(&sizes, function);
            let flow = (!body.blocks.is_empty()).then(|| Flow::of(&body));
            let known = written.and_then(|written| written.0.get(name));
            let mut loads: HashMap<String, BTreeSet<Place>> = HashMap::new();
            for (at, load) in body.instructions.iter().enumerate() {
                let value = load.result.and_then(|result| body.written(result).strip_prefix(b"%"));
                let Some(value) = value.filter(|_| load.opcode == Opcode::Load) else { continue };
                let mut value = &*String::from_utf8_lossy(value);
                while let Some(end) = value.rfind(".pre")
                    && known.is_some_and(|known| !known.contains_key(value))
                {
                    value = &value[..end];
                }
                let block = body.block_of(at);
                let label = String::from_utf8_lossy(body.blocks[block].labels[0]).into_owned();
                let depth = flow.as_ref().map_or(0, |flow| flow.depth(block));
                loads.entry(value.to_owned()).or_default().insert((depth, label));
            }
            places.insert(name.to_vec(), loads);
        }
        Ok(Places(places))
    }

    fn get(&self, function: &[u8], value: &str) -> Option<&BTreeSet<Place>> {
        self.0.get(function)?.get(value)
    }

    /// Returns the largest number of loops around a load; `None` if the load is gone.
    fn depth(&self, function: &[u8], value: &str) -> Option<usize> {
        self.get(function, value)?.last().map(|it| it.0)
    }
}

/// Runs `opt` on a module whose values have names. `written` holds the module's loads as written,
/// and `before` the loads after LLVM optimised the unmodified module.
pub struct Prover<'a> {
    opt: Opt<'a>,
    pub(super) judge: &'a Judge<'a>,
    functions: Vec<&'a [u8]>,
    written: Places,
    before: Places,
}

impl<'a> Prover<'a> {
    /// Optimises the unmodified module.
    ///
    /// # Errors
    ///
    /// LLVM cannot be run, or fails.
    pub fn new(opt: Opt<'a>, judge: &'a Judge<'a>) -> Result<Self, AskError> {
        let functions: Vec<&[u8]> = judge.module.functions().collect();
        let all = functions.iter().copied().collect();
        let written = Places::of(judge.module.text(), &all, None)?;
        let before = Places::of(&opt.optimised(judge.module.text())?, &all, Some(&written))?;
        Ok(Prover { opt, judge, functions, written, before })
    }

    fn module(&self) -> &'a Module<'a> {
        self.judge.module
    }

    fn function(&self, load: usize) -> &'a [u8] {
        self.functions[self.module().instructions()[load].function as usize]
    }

    /// Returns the name of a load's result, without `%`.
    fn value(&self, load: usize) -> Option<&'a str> {
        let span = self.module().result_span(&self.module().instructions()[load])?;
        std::str::from_utf8(&self.module().text()[span]).ok()?.strip_prefix('%')
    }

    /// Returns whether LLVM neither removes nor hoists a load in the unmodified module.
    pub(super) fn is_kept(&self, load: usize) -> bool {
        let depth = |of: &Places| of.depth(self.function(load), self.value(load)?);
        depth(&self.before).is_some_and(|it| Some(it) >= depth(&self.written))
    }

    /// Asks LLVM about each trial's load. A run of `opt` has at most one trial of each function.
    pub(super) fn ask(&self, trials: &[Trial]) -> Result<Vec<Outcome>, AskError> {
        let mut outcomes = vec![Outcome::Kept; trials.len()];
        let mut left: Vec<usize> = (0..trials.len()).collect();
        while !left.is_empty() {
            (self.opt.tell)(format!("asking opt of {} loads", left.len()));
            let mut taken = HashSet::new();
            let (now, later) =
                left.into_iter().partition(|&left| taken.insert(self.function(trials[left].load)));
            left = later;
            let text = self.scoped(now.iter().map(|&trial| &trials[trial]));
            let after = Places::of(&self.opt.optimised(&text)?, &taken, Some(&self.written))?;
            for trial in now {
                let load = trials[trial].load;
                let Some(value) = self.value(load) else { continue };
                let function = self.function(load);
                let depths = [&self.before, &after].map(|it| it.depth(function, value));
                let places = after.get(function, value);
                outcomes[trial] = match depths {
                    [_, None] => Outcome::Removed,
                    [before, after] if after < before => Outcome::Hoisted,
                    _ if places != self.before.get(function, value) => Outcome::Elsewhere,
                    _ if places != self.written.get(function, value) => Outcome::Moved,
                    _ => Outcome::Kept,
                };
            }
        }
        Ok(outcomes)
    }

    /// Returns the module as LLVM vectorises it with the scopes of `trials`, which share no access.
    pub(super) fn vectorised(&self, trials: &[Trial]) -> Result<Vec<u8>, AskError> {
        (self.opt.tell)(format!("asking opt of {} loops", trials.len()));
        self.opt.run(&self.scoped(trials), &self.opt.with_vectors())
    }

    /// Returns the remarks of LLVM's vectoriser on the unmodified module.
    pub(super) fn remarks(&self) -> Result<String, AskError> {
        let passes = format!("-passes={}", self.opt.with_vectors());
        let only = "-pass-remarks-filter=loop-vectorize";
        let arguments = ["-disable-output", "-pass-remarks-output=-", only, &passes, "-"];
        let records = ask(&self.opt.program, &arguments, self.module().text())?.stdout;
        Ok(String::from_utf8_lossy(&records).into_owned())
    }

    /// Returns the module's text with alias scopes that separate the groups of each trial.
    fn scoped<'t>(&self, trials: impl IntoIterator<Item = &'t Trial>) -> Vec<u8> {
        let text = self.module().text();
        let (mut edits, mut nodes) = (Edits::default(), String::from("\n"));
        let mut number = self.module().next_number().unwrap_or(u32::MAX);
        let mut define = |node: &str| {
            _ = writeln!(nodes, "!{number} = {}", node.replace("self", &format!("!{number}")));
            number = number.saturating_add(1);
            number.saturating_sub(1)
        };
        for Trial { groups, .. } in trials {
            let scope = format!("distinct !{{self, !{}}}", define("distinct !{self}"));
            let all: BTreeSet<usize> = groups.iter().map(|group| group.1).collect();
            let scopes: Vec<(usize, u32)> = all.iter().map(|&it| (it, define(&scope))).collect();
            let mut list = |own: bool, group: usize| {
                let scopes = scopes.iter().filter(|scope| (scope.0 == group) == own);
                let scopes: Vec<String> = scopes.map(|scope| format!("!{}", scope.1)).collect();
                define(&format!("!{{{}}}", scopes.join(", ")))
            };
            let lists = all.iter().map(|&it| (it, [list(true, it), list(false, it)]));
            let lists: HashMap<usize, [u32; 2]> = lists.collect();
            for (end, group) in groups {
                let [own, others] = lists[group];
                edits.insert(*end, format!(", !alias.scope !{own}, !noalias !{others}"));
            }
        }
        edits.insert(text.len(), nodes);
        edits.apply(text)
    }
}
