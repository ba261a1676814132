//! Whether LLVM would remove or hoist a load, if what is blamed had tags of its
//! own: it is asked.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use tbaa::{Format, TagId};
use tbaa_check::blocks::Judge;
use tbaa_ir::{Module, Opcode, Rewriter, Sizes};

use crate::progress;
use crate::report::Failure;
use crate::tools::{cannot_run, tool};

/// What LLVM made of a load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Kept,
    Removed,
    /// It is in another block than without the change.
    Moved,
}

/// A load, and the accesses that get a tag of their own. All are of one
/// function.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) load: usize,
    /// Each with the number of its new type.
    pub(super) retagged: Vec<(usize, usize)>,
}

/// `opt`, and the passes that are asked.
pub(super) struct Opt<'a> {
    program: String,
    passes: &'a str,
}

impl<'a> Opt<'a> {
    /// The program that is named, or else the one that is installed.
    pub(super) fn new(named: Option<&str>, passes: &'a str) -> Self {
        Opt { program: program(named), passes }
    }

    /// Gives every value a name, by which it is found again.
    pub(super) fn named(&self, text: &[u8]) -> Result<Vec<u8>, Failure> {
        self.run(text, "instnamer")
    }

    fn optimised(&self, text: &[u8]) -> Result<Vec<u8>, Failure> {
        self.run(text, &format!("function({})", self.passes))
    }

    fn with_vectors(&self) -> String {
        format!("function({},loop-vectorize)", self.passes)
    }

    /// Cuts out one function, which takes much less time than the whole module later. All of it
    /// where LLVM's program for that is not there.
    pub(super) fn cut(&self, text: Vec<u8>, function: &[u8]) -> Vec<u8> {
        let (folder, name) = match self.program.rfind('/') {
            Some(at) => self.program.split_at(at + 1),
            None => ("", &*self.program),
        };
        let program = format!("{folder}{}", name.replacen("opt", "llvm-extract", 1));
        let Ok(function) = std::str::from_utf8(function) else { return text };
        let only = format!("--func={function}");
        ask(&program, &["-S", "-o", "-", &only, "-"], &text).map_or(text, |[out, _]| out)
    }

    fn run(&self, text: &[u8], passes: &str) -> Result<Vec<u8>, Failure> {
        let passes = format!("-passes={passes}");
        let written = ask(&self.program, &["-S", "-o", "-", &passes, "-"], text);
        written.map(|[out, _]| out).map_err(Failure::unusable)
    }
}

/// What LLVM prints of how often each block of a profiled module is run.
pub(super) fn block_counts(opt: Option<&str>, text: &[u8]) -> Result<Vec<u8>, String> {
    let arguments = ["-disable-output", "-passes=print<block-freq>", "-"];
    ask(&program(opt), &arguments, text).map(|[_, printed]| printed)
}

fn program(named: Option<&str>) -> String {
    named.map_or_else(|| tool("opt"), str::to_owned)
}

/// What a program of LLVM's makes of a text, and what it prints beside it.
fn ask(program: &str, arguments: &[&str], text: &[u8]) -> Result<[Vec<u8>; 2], String> {
    let fail = |why: String| format!("cannot ask {program}: {why}");
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_run(program, &error, "name LLVM's opt by --opt"))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        // An early end of the program shows in its status.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(text)));
        scope.spawn(|| stderr.map(|mut stderr| stderr.read_to_end(&mut errors)));
        stdout.map(|mut stdout| stdout.read_to_end(&mut out)).transpose()
    })
    .map_err(|error| fail(error.to_string()))?;
    let status = child.wait().map_err(|error| fail(error.to_string()))?;
    if status.success() {
        return Ok([out, errors]);
    }
    let errors = String::from_utf8_lossy(&errors);
    let first = errors.lines().next().unwrap_or("it says nothing");
    Err(fail(format!("{status}, {first}")))
}

/// The blocks in which loads are, by function and the name of the value.
struct Places(HashMap<String, HashMap<String, String>>);

impl Places {
    /// Of the functions whose names are `wanted`.
    fn of(text: &[u8], wanted: &HashSet<&[u8]>) -> Result<Places, Failure> {
        let module = tbaa_ir::read(text)
            .map_err(|error| Failure::unusable(format!("cannot read what opt wrote: {error}")))?;
        let sizes = Sizes::new(&module);
        let mut places = HashMap::new();
        for (function, name) in (0..).zip(module.functions()) {
            if wanted.contains(name) {
                let body = module.function(&sizes, function);
                let name_of = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                let loads = body.instructions.iter().enumerate();
                let loads = loads.filter(|(_, it)| it.opcode == Opcode::Load);
                let place = |(at, load): (usize, &tbaa_ir::Inst)| {
                    let value = body.written(load.result?).strip_prefix(b"%")?;
                    Some((name_of(value), name_of(body.blocks[body.block_of(at)].labels[0])))
                };
                places.insert(name_of(name), loads.filter_map(place).collect());
            }
        }
        Ok(Places(places))
    }

    fn get(&self, function: &[u8], value: &str) -> Option<&str> {
        let values = self.0.get(&*String::from_utf8_lossy(function))?;
        values.get(value).map(String::as_str)
    }
}

/// A module whose values have names, and what LLVM makes of it.
pub(super) struct Prover<'a> {
    opt: Opt<'a>,
    judge: &'a Judge<'a>,
    functions: Vec<&'a [u8]>,
    before: Places,
}

impl<'a> Prover<'a> {
    pub(super) fn new(opt: Opt<'a>, judge: &'a Judge<'a>) -> Result<Self, Failure> {
        let functions: Vec<&[u8]> = judge.module.functions().collect();
        let all = functions.iter().copied().collect();
        let before = Places::of(&opt.optimised(judge.module.text())?, &all)?;
        Ok(Prover { opt, judge, functions, before })
    }

    fn module(&self) -> &'a Module<'a> {
        self.judge.module
    }

    fn function(&self, load: usize) -> &'a [u8] {
        self.functions[self.module().instructions()[load].function as usize]
    }

    /// The name of a load's result without `%`.
    fn value(&self, load: usize) -> Option<&'a str> {
        let span = self.module().result_span(&self.module().instructions()[load])?;
        std::str::from_utf8(&self.module().text()[span]).ok()?.strip_prefix('%')
    }

    /// Whether LLVM keeps a load as the module is.
    pub(super) fn is_kept(&self, load: usize) -> bool {
        self.value(load).is_some_and(|it| self.before.get(self.function(load), it).is_some())
    }

    /// Asks for every trial what becomes of its load. Trials of different
    /// functions are asked at once.
    pub(super) fn ask(&self, trials: &[Trial]) -> Result<Vec<Outcome>, Failure> {
        let mut outcomes = vec![Outcome::Kept; trials.len()];
        let mut left: Vec<usize> = (0..trials.len()).collect();
        while !left.is_empty() {
            progress::doing(format!("asking opt of {} loads", left.len()));
            let mut taken = HashSet::new();
            let (now, later) =
                left.into_iter().partition(|&it| taken.insert(self.function(trials[it].load)));
            left = later;
            let text = self.retagged(now.iter().map(|&trial| &trials[trial]))?;
            let after = Places::of(&self.opt.optimised(&text)?, &taken)?;
            for trial in now {
                let load = trials[trial].load;
                let Some(value) = self.value(load) else { continue };
                let [before, after] =
                    [&self.before, &after].map(|it| it.get(self.function(load), value));
                outcomes[trial] = match after {
                    None => Outcome::Removed,
                    Some(_) if after == before => Outcome::Kept,
                    Some(_) => Outcome::Moved,
                };
            }
        }
        Ok(outcomes)
    }

    /// What LLVM's vectoriser makes of the module with the tags of some trials, which have no
    /// access in common.
    pub(super) fn vectorised(&self, trials: &[Trial]) -> Result<Vec<u8>, Failure> {
        progress::doing(format!("asking opt of {} loops", trials.len()));
        self.opt.run(&self.retagged(trials)?, &self.opt.with_vectors())
    }

    /// What LLVM's vectoriser says of the module as it is.
    pub(super) fn remarks(&self) -> Result<String, Failure> {
        let passes = format!("-passes={}", self.opt.with_vectors());
        let only = "-pass-remarks-filter=loop-vectorize";
        let arguments = ["-disable-output", "-pass-remarks-output=-", only, &passes, "-"];
        let [records, _] =
            ask(&self.opt.program, &arguments, self.module().text()).map_err(Failure::unusable)?;
        Ok(String::from_utf8_lossy(&records).into_owned())
    }

    /// The module with other tags in some trials.
    fn retagged<'t>(
        &self,
        trials: impl IntoIterator<Item = &'t Trial>,
    ) -> Result<Vec<u8>, Failure> {
        let fail = |error: tbaa_ir::TextError| Failure::unusable(error.to_string());
        let mut rewriter = Rewriter::new(self.module());
        let mut fresh = HashMap::new();
        for Trial { load, retagged } in trials {
            let like = self.module().instructions()[*load].tag;
            for &(access, of) in retagged {
                let key = (of, like.map(|tag| self.root(tag)));
                let tag = match fresh.get(&key) {
                    Some(&tag) => tag,
                    None => self.define(&mut rewriter, like, of).map_err(fail)?,
                };
                fresh.insert(key, tag);
                rewriter.set_metadata(access, "tbaa", Some(tag));
                rewriter.set_metadata(access, "tbaa.struct", None);
            }
        }
        rewriter.to_bytes().map_err(fail)
    }

    fn root(&self, tag: TagId) -> Option<u32> {
        let graph = self.module().graph();
        self.module().number_of(graph.root_of(graph.tag(tag).ok()?.access)?.node())
    }

    /// Defines a scalar of its own, under the root of a tag or of any.
    fn define(
        &self,
        rewriter: &mut Rewriter<'_>,
        like: Option<TagId>,
        of: usize,
    ) -> Result<u32, tbaa_ir::TextError> {
        let graph = self.module().graph();
        let readable = |tag: &TagId| graph.tag(*tag).is_ok() && self.root(*tag).is_some();
        let like = like.filter(readable).or_else(|| graph.tags().find(readable));
        let name = format_args!("tbaa blocks {of}");
        let format = like.and_then(|tag| graph.tag(tag).ok()).map(|tag| tag.format);
        let root = match like.and_then(|tag| self.root(tag)) {
            Some(root) => root,
            // No tag at all: the first there is.
            None => rewriter.define("!{!\"tbaa blocks\"}")?,
        };
        if format == Some(Format::New) {
            let ty = rewriter.define(format_args!("!{{!{root}, i64 1, !\"{name}\"}}"))?;
            return rewriter.define(format_args!("!{{!{ty}, !{ty}, i64 0, i64 1}}"));
        }
        let ty = rewriter.define(format_args!("!{{!\"{name}\", !{root}, i64 0}}"))?;
        rewriter.define(format_args!("!{{!{ty}, !{ty}, i64 0}}"))
    }
}
