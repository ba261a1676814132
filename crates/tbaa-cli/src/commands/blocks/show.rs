//! Describes loads and their blockers: the stores and calls because of which LLVM keeps a load.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use tbaa_check::blocks::{
    Blocked, Blocker, Cause, Event, Figures, Judge, Judged, Outcome, Sample, Vectors, Wanted,
};
use tbaa_check::char_origin::{CharOrigins, is_wider_char};
use tbaa_ir::{Address, DebugInfo, Def, Instruction, Location, Names, Opcode, Parameter};

use super::advice::{Advisor, BYTES};
use super::profile::{Heat, Profile};
use crate::commands::words::of_char;
use crate::find::access_name;
use crate::input::Input;
use crate::output::{counted, percent};
use crate::printable::{function_name, printable};
use crate::sources::Sources;

/// The largest number of accesses in a shortened list.
const SHOWN: usize = 3;

/// The largest number of pointers that [`Shown::object`] follows.
const OBJECT_DEPTH: usize = 8;

pub(super) struct Shown<'a> {
    pub(super) input: &'a Input,
    pub(super) names: &'a Names<'a>,
    pub(super) debug: &'a DebugInfo<'a>,
    pub(super) sources: Sources,
    pub(super) advisor: Advisor<'a>,
    pub(super) judge: &'a Judge<'a>,
    pub(super) sample: Option<&'a Sample>,
    pub(super) profile: Profile,
    pub(super) origins: CharOrigins<'a>,
    /// True once the help about byte types has been printed.
    told: Cell<bool>,
}

/// A load, store or loop that LLVM could optimise, in the form of `--format json`.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(super) function: String,
    pub(super) load: ShownEvent,
    pub(super) could: Could,
    /// The accesses whose value the load could reuse.
    of: Vec<ShownEvent>,
    /// The label of the header block of the loop that the optimisation concerns, if any.
    header: Option<String>,
    /// The line of the source at which the loop begins.
    #[serde(rename = "loop")]
    pub(super) around: Option<String>,
    depth: usize,
    /// How often the load ran, if a profile counts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heat: Option<Heat>,
    pub(super) blockers: Vec<BlockerRow>,
    /// LLVM's result; `None` if there is none.
    outcome: Option<Proved>,
    /// For a loop: its state in LLVM's output for the unmodified module, and LLVM's remark.
    #[serde(skip)]
    vectors: Option<(Vectors, Option<String>)>,
    /// True if the blockers change nothing, and block only because they might not return.
    #[serde(skip)]
    is_idle: bool,
    /// True if LLVM was asked about other loads but could not be asked about this one.
    #[serde(skip)]
    is_not_asked: bool,
}

impl Row {
    pub(super) fn helps(&self) -> IndexSet<&str> {
        self.blockers.iter().filter_map(|blocker| blocker.help.as_deref()).collect()
    }

    /// Returns how often the load ran, such as `; run 10 times`; empty if unknown.
    pub(super) fn heat(&self) -> String {
        self.heat.as_ref().map(|heat| format!("; {}", heat.words)).unwrap_or_default()
    }
}

/// The optimisation that is blocked: of a load, of a store (`Sink`) or of a loop (`Vectorise`).
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Could {
    Reuse,
    #[serde(rename = "reuse on some ways")]
    Partly,
    Hoist,
    Sink,
    Vectorise,
}

/// LLVM's result for a load or a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proved {
    /// LLVM removes or hoists the load in the unmodified module.
    Anyhow,
    /// LLVM's result for the load if the blockers access other memory.
    Load(Outcome),
    Loop(Vectors),
}

impl Proved {
    fn words(self) -> &'static str {
        match self {
            Proved::Anyhow => {
                "LLVM removes it, or moves it out of the loop, in this module as it is"
            }
            Proved::Load(Outcome::Kept) => "it stays",
            Proved::Load(Outcome::Moved) => {
                "it stays in the block to which LLVM moves it in this module as it is"
            }
            Proved::Load(Outcome::Elsewhere) => "it stays, in another block of the same loops",
            Proved::Load(Outcome::Removed) => "it is gone",
            Proved::Load(Outcome::Hoisted) => "it leaves the loop",
            Proved::Loop(Vectors::Scalar) => "no vectors",
            Proved::Loop(Vectors::Checked) => "it is vectorised, behind a check at run time",
            Proved::Loop(Vectors::Vectorised) => "it is vectorised without a check",
        }
    }
}

impl Serialize for Proved {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

#[derive(Serialize)]
pub(super) struct BlockerRow {
    #[serde(flatten)]
    pub(super) place: ShownEvent,
    cause: &'static str,
    pub(super) why: String,
    pub(super) help: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ShownEvent {
    /// The name of the access, such as `@f:2`; `None` for a call that is no access.
    access: Option<String>,
    /// The operation and the meaning of the tag, such as `store long`, or `call of @f`.
    pub(super) what: String,
    /// The meaning of the tag, or the type if there is no tag; empty for a call that is no access.
    #[serde(skip)]
    pub(super) of: String,
    tag: Option<String>,
    /// File and line in the source, such as `f.c:14`.
    pub(super) source: Option<String>,
    #[serde(skip)]
    pub(super) at: Option<Location>,
    /// Bytes from the start of the text; `None` with `--prove`, which reads text that LLVM printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<usize>,
}

impl ShownEvent {
    /// Returns the event in one line: `@f:2 store long, f.c:6`.
    fn line(&self) -> String {
        let access = self.access.as_ref().map(|access| format!("{access} ")).unwrap_or_default();
        let source = self.source.as_ref().map(|source| format!(", {source}")).unwrap_or_default();
        format!("{access}{}{source}", self.what)
    }
}

pub(super) type InFunction<'f, 't> = (&'f Judged<'t>, &'f Blocked);

#[derive(Serialize)]
pub(super) struct Document<'a> {
    file: &'a str,
    loads: Vec<Row>,
    proof: Option<&'a Figures>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(
        input: &'a Input,
        names: &'a Names<'a>,
        debug: &'a DebugInfo<'a>,
        judge: &'a Judge<'a>,
        sample: Option<&'a Sample>,
        profile: Profile,
    ) -> Self {
        let origins = CharOrigins::new(judge.module, judge.sizes);
        let (advisor, sources) = (Advisor::new(judge, debug), Sources::of(debug));
        let told = Cell::new(false);
        Shown { input, names, debug, sources, advisor, judge, sample, profile, origins, told }
    }

    pub(super) fn document(&self, loads: Vec<Row>) -> Document<'_> {
        let proof = self.sample.map(|sample| &sample.figures);
        Document { file: self.input.file(), loads, proof }
    }

    fn instruction(&self, index: usize) -> &Instruction {
        &self.judge.module.instructions()[index]
    }

    fn is_load(&self, index: usize) -> bool {
        self.instruction(index).opcode == Opcode::Load
    }

    fn function_name(&self, function: &Judged<'_>) -> String {
        let name = self.judge.module.functions().nth(function.index as usize).unwrap_or(b"?");
        format!("@{}", function_name(name))
    }

    pub(super) fn row(&self, function: &Judged<'_>, blocked: &Blocked) -> Row {
        let mut vectors = None;
        let (could, earlier, header) = match &blocked.wanted {
            Wanted::Reuse(earlier) => (Could::Reuse, &earlier[..], None),
            Wanted::Partly(earlier) => (Could::Partly, &earlier[..], None),
            Wanted::Hoist(header) => (Could::Hoist, &[][..], Some(*header)),
            Wanted::Sink(header) => (Could::Sink, &[][..], Some(*header)),
            Wanted::Vectorise(it) => {
                vectors = Some((it.now, it.remark.clone()));
                (Could::Vectorise, &[][..], Some(it.header))
            }
        };
        let label = |block: usize| function.body.function.blocks[block].labels[0];
        let means = self.advisor.means(function, blocked);
        let blockers = blocked.blockers.iter().map(|blocker| BlockerRow {
            place: self.place(function, blocker.event),
            cause: blocker.cause.code(),
            why: self.why(function, blocked, blocker),
            help: self.advisor.of(function, blocked, blocker, &means),
        });
        Row {
            function: self.function_name(function),
            load: self.place(function, blocked.load),
            could,
            of: earlier.iter().map(|&earlier| self.place(function, earlier)).collect(),
            header: header.map(|header| String::from_utf8_lossy(label(header)).into_owned()),
            around: header.and_then(|header| self.loop_of(function, header)),
            depth: blocked.depth,
            heat: blocked.load.access().and_then(|access| self.profile.heat(access)),
            blockers: blockers.collect(),
            outcome: self.outcome(blocked),
            vectors,
            is_idle: !blocked.blockers.is_empty()
                && blocked.blockers.iter().all(|blocker| blocker.cause == IDLE),
            is_not_asked: self.sample.is_some()
                && blocked.load.access().is_some_and(|index| self.is_load(index))
                && !blocked.can_be_asked()
                && !blocked.blockers.is_empty(),
        }
    }

    /// Prints the given loads of a function. If `is_all`, omits a function without such loads.
    pub(super) fn text(
        &self,
        function: &Judged<'_>,
        loads: &[&Blocked],
        is_all: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if is_all && loads.is_empty() {
            return Ok(());
        }
        let accesses = self.judge.module.accesses_of(function.index);
        let count = accesses.filter(|&index| self.is_load(index)).count();
        let kept = function.loads.iter().filter(|load| !load.blockers.is_empty());
        let (kept, others) = others("; ", kept.map(|load| (function, load)));
        let also = match function.body.readers() {
            0 => String::new(),
            1 => " and 1 call that reads".to_owned(),
            readers => format!(" and {readers} calls that read"),
        };
        let (name, count) = (self.function_name(function), counted(count, "load"));
        let are = match kept {
            0 => "none blocked by a store or call".to_owned(),
            _ => format!("{kept} cannot be removed because of a store or call"),
        };
        writeln!(out, "{name}: {count}{also}, {are}{others}")?;
        for blocked in loads {
            self.one(function, blocked, &[], usize::MAX, out)?;
        }
        writeln!(out)
    }

    /// Prints the first `top` [`groups`](Self::groups) of loads, and the most frequent blockers.
    pub(super) fn ranked(
        &self,
        loads: &[InFunction<'_, '_>],
        top: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let in_loops = loads.iter().filter(|load| load.1.depth > 0).count();
        let groups = self.groups(loads);
        let shown = top.min(groups.len());
        let first = if self.profile.is_empty() { "innermost loops first" } else { "hottest first" };
        let (kept, others) = others(", and ", loads.iter().copied());
        writeln!(
            out,
            "{} cannot be removed because of stores or calls{others}; {in_loops} of them are in loops. \
             The first {shown}, {first}:\n",
            counted(kept, "load"),
        )?;
        for group in groups.iter().take(top) {
            let (function, blocked) = group[0];
            let loops = match blocked.depth {
                0 => "in no loop".to_owned(),
                1 => "in a loop".to_owned(),
                depth => format!("in {depth} loops"),
            };
            writeln!(out, "{}, {loops}", self.function_name(function))?;
            self.one(function, blocked, &group[1..], SHOWN, out)?;
            writeln!(out)?;
        }
        // Count the blocked loads, in loops and in all, for each blocker and for each `what`.
        let (mut by_place, mut by_tag) = (BTreeMap::new(), BTreeMap::new());
        let count = |counts: &mut BTreeMap<_, (usize, usize)>, key, blocked: &Blocked| {
            let (in_loops, all) = counts.entry(key).or_default();
            (*in_loops, *all) = (*in_loops + usize::from(blocked.depth > 0), *all + 1);
        };
        for (function, blocked) in loads {
            let mut seen = BTreeSet::new();
            for blocker in &blocked.blockers {
                let place = self.place(function, blocker.event);
                count(&mut by_place, place.line(), blocked);
                if seen.insert(place.what.clone()) {
                    count(&mut by_tag, place.what, blocked);
                }
            }
        }
        for (title, counts) in [
            ("The stores and calls that block most loads:", by_place),
            ("The same, by what they are:", by_tag),
        ] {
            let mut counts: Vec<_> = counts.into_iter().collect();
            counts.sort_by_key(|&(_, count)| Reverse(count));
            writeln!(out, "{title}\n   loads  in loops")?;
            for (what, (in_loops, all)) in counts.into_iter().take(top) {
                writeln!(out, "{all:>8}{in_loops:>10}  {what}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "--all lists all loads, --loops those in loops, --top COUNT the first ones.")
    }

    /// Returns where an access's pointer comes from, through at most [`OBJECT_DEPTH`] loads.
    fn object(&self, function: &Judged<'_>, load: Event) -> String {
        let mut path = String::new();
        let body = &function.body;
        let mut next = load.access().and_then(|access| body.pointer(access));
        for _ in 0..OBJECT_DEPTH {
            let Some(pointer) = next else { break };
            let base = body.pointers.address(pointer).base;
            let written = body.function.written(base);
            let span = self.judge.module.function_span(function.index);
            let Some(inst) = body.function.inst(base) else {
                path += &match self.debug.parameter(span, written) {
                    Some(Parameter::Pointer(name)) => name,
                    _ => printable(written),
                };
                break;
            };
            path += &match (inst.access, self.debug.location_at(inst.span.start)) {
                (Some(of), _) => self.place(function, Event::Access(of)).what,
                (None, Some(at)) => format!("{}:{}:{}", at.file, at.line, at.column),
                (None, None) => printable(written),
            };
            next = inst.access.and_then(|of| body.pointer(of));
        }
        path
    }

    /// Groups the loads that read the same member of an object and have the same blockers.
    pub(super) fn groups<'f, 't>(
        &self,
        loads: &[InFunction<'f, 't>],
    ) -> Vec<Vec<InFunction<'f, 't>>> {
        let mut groups: IndexMap<(String, Vec<_>), Vec<InFunction<'_, '_>>> = IndexMap::new();
        for &(function, blocked) in loads {
            let name = |event| match self.place(function, event) {
                ShownEvent { at: Some(at), what, .. } => {
                    format!("{what} {} {} {}", at.file, at.line, at.column)
                }
                _ => self.judge.offset(&function.body, event).to_string(),
            };
            let blockers = blocked.blockers.iter().map(|blocker| name(blocker.event)).collect();
            let what = self.place(function, blocked.load).what;
            let is_loop = matches!(blocked.wanted, Wanted::Vectorise(_));
            let what = format!("{what} {is_loop} {}", self.object(function, blocked.load));
            groups.entry((what, blockers)).or_default().push((function, blocked));
        }
        groups.into_values().collect()
    }

    fn one(
        &self,
        function: &Judged<'_>,
        blocked: &Blocked,
        more: &[InFunction<'_, '_>],
        most: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let row = self.row(function, blocked);
        writeln!(out, "  {}{}", row.load.line(), row.heat())?;
        if !more.is_empty() {
            let places =
                more.iter().take(SHOWN).map(|(function, of)| self.place(function, of.load));
            let places = places.map(|place| place.source.or(place.access).unwrap_or_default());
            let mut places: Vec<String> = places.collect();
            places.dedup();
            let dots = if more.len() > SHOWN { ", ..." } else { "" };
            let count = counted(more.len(), "more load");
            writeln!(out, "  and {count} of it, blocked alike: {}{dots}", places.join(", "))?;
        }
        let (can, changes, uses) = match row.blockers.is_empty() {
            true => ("can", UNCHANGED, UNCHANGED),
            false if row.is_idle => ("could", ", but these may not return:", IN_USE),
            false => ("could", ", but these may change it:", IN_USE),
        };
        let block = || format!("%{}", row.header.as_deref().unwrap_or_default());
        let at = row.around.clone().unwrap_or_else(block);
        let shown: Vec<String> = row.of.iter().take(SHOWN).map(ShownEvent::line).collect();
        let or_another = if row.of.len() > SHOWN { " or another" } else { "" };
        let from = shown.join(" or ") + or_another;
        let said = match row.could {
            Could::Reuse => format!("{can} reuse the value of {from}{changes}"),
            Could::Partly => {
                format!("{can} reuse the value of {from}, and load on one way only{changes}")
            }
            Could::Hoist => {
                let verb = if row.load.access.is_some() { "load" } else { "call" };
                format!("{can} {verb} it once, before the loop at {at}{changes}")
            }
            Could::Vectorise => {
                let what = match row.vectors {
                    Some((Vectors::Scalar, _)) => "does not vectorise the loop",
                    _ => "checks at run time, before the loop",
                };
                format!("{what} at {at}, because these may be the same memory:")
            }
            Could::Sink => format!("{can} store it once, after the loop at {at}{uses}"),
        };
        writeln!(out, "    LLVM {said}")?;
        for BlockerRow { place, why, .. } in row.blockers.iter().take(most) {
            writeln!(out, "      {}: {why}", place.line())?;
        }
        if let more @ 1.. = row.blockers.len().saturating_sub(most) {
            writeln!(out, "      and {more} more")?;
        }
        for help in row.helps() {
            // The help about byte types is long, so it is printed in full only once.
            let again = help.strip_suffix(BYTES).filter(|_| self.told.replace(true));
            let more =
                if again.is_some() { ". Another byte type helps, too: see above" } else { "" };
            writeln!(out, "    help: {}{more}", again.unwrap_or(help))?;
        }
        if let Some((_, Some(remark))) = &row.vectors {
            writeln!(out, "    LLVM's remark: {}", printable(remark))?;
        }
        let asked = match row.outcome {
            Some(Proved::Loop(_)) => "LLVM, if no two objects of the loop overlap: ",
            Some(Proved::Load(_)) => "LLVM, if what is blamed is to other memory: ",
            None if row.is_not_asked => {
                "LLVM was not asked: other memory alone does not free this load"
            }
            Some(Proved::Anyhow) => "",
            None => return Ok(()),
        };
        writeln!(out, "    {asked}{}", row.outcome.map_or("", Proved::words))
    }

    fn loop_of(&self, function: &Judged<'_>, header: usize) -> Option<String> {
        let body = &function.body;
        let blocks = body.function.blocks.iter().enumerate();
        let mut back = blocks.filter(|(_, block)| block.successors.contains(&header));
        let named = back.find_map(|(block, _)| self.debug.loop_at(body.last_offset(block)?));
        let at = named.or_else(|| self.debug.location_near(body.first_offset(header)?));
        Some(self.sources.place(&at?))
    }

    fn outcome(&self, blocked: &Blocked) -> Option<Proved> {
        if let Wanted::Vectorise(it) = &blocked.wanted {
            return Some(Proved::Loop(it.then));
        }
        let (sample, load) = (self.sample?, blocked.load.access()?);
        let gone = sample.is_gone(load).then_some(Proved::Anyhow);
        gone.or_else(|| sample.outcome(load).map(Proved::Load))
    }

    /// Returns the accessed global (`tab`, or `tab[]` for an element) if the tag names no member.
    fn global(&self, function: &Judged<'_>, access: usize) -> Option<String> {
        let tag = self.instruction(access).tag.map(|tag| self.judge.module.graph().tag(tag));
        if tag.is_some_and(|tag| tag.is_ok_and(|tag| tag.base != tag.access)) {
            return None;
        }
        let body = &function.body;
        let Address { base, offset, terms } = body.pointers.address(body.pointer(access)?);
        let Def::Global(name) = body.function.def(base) else { return None };
        let element = if offset == 0 && terms.is_empty() { "" } else { "[]" };
        Some(format!("{}{element}", function_name(name)))
    }

    fn place(&self, function: &Judged<'_>, event: Event) -> ShownEvent {
        let body = &function.body;
        let offset = self.judge.offset(body, event);
        let at = self.debug.location_near(offset);
        let source = at.as_ref().map(|at| self.sources.place(at));
        // With `--prove`, offsets are into a text that the user does not have.
        let offset = self.sample.is_none().then_some(offset);
        let inst = body.inst(event);
        let opcode = inst.map_or(Opcode::Other, |inst| inst.opcode);
        let verb = match opcode {
            Opcode::Call | Opcode::Other => {
                let call = inst.and_then(|inst| body.function.call(inst));
                call_of(call.map_or(&b""[..], |call| call.callee))
            }
            _ => opcode.word().to_owned(),
        };
        let Event::Access(index) = event else {
            let (access, tag, of) = (None, None, String::new());
            return ShownEvent { access, what: verb, of, tag, source, at, offset };
        };
        let instruction = self.instruction(index);
        let of = match instruction.tag {
            Some(tag) => printable(self.names.tag(tag)),
            None => {
                let ty = printable(self.judge.module.access_type(instruction));
                format!("{ty}{}without a tag", if ty.is_empty() { "" } else { " " })
            }
        };
        let global = self.global(function, index);
        let of = global.map_or(of.clone(), |name| format!("{name} ({of})"));
        let what = match instruction.tag {
            Some(_) if opcode == Opcode::Call => format!("{verb}, tagged {of}"),
            _ => format!("{verb} {of}"),
        };
        let access = Some(access_name(self.judge.module, index));
        let tag = offset.and(instruction.tag).map(|tag| self.input.label(tag));
        ShownEvent { access, what, of, tag, source, at, offset }
    }

    /// Returns the class that declares the accessed member, if other classes inherit from it.
    fn base_class(&self, access: usize) -> Option<String> {
        let tag = self.instruction(access).tag?;
        let graph = self.judge.module.graph();
        let tag = graph.tag(tag).ok().filter(|tag| tag.base != tag.access)?;
        let is_base = self.debug.is_base_class(graph.ty(tag.base).name()?);
        is_base.then(|| printable(self.names.ty(tag.base)))
    }

    /// Returns why the blocker, or else the load, is tagged `char` but accesses a wider type.
    fn why_char(&self, blocker: &Blocker) -> String {
        let both = [("", blocker.event.access()), ("of the load: ", blocker.load.access())];
        let mut origins = both.into_iter().filter_map(|(whose, index)| {
            let instruction = self.instruction(index?);
            let is_wider = is_wider_char(self.judge.module, self.judge.sizes, instruction);
            let origin = is_wider.then(|| self.origins.of(instruction))??;
            Some(format!("{whose}{}", of_char(&origin)))
        });
        origins.next().unwrap_or_default()
    }

    fn written_by(&self, function: &Judged<'_>, call: Event) -> &'static str {
        match function.body.writes_only_arguments(call) {
            true => "it may write what its arguments lead to",
            false => "it may write anything",
        }
    }

    fn why(&self, function: &Judged<'_>, blocked: &Blocked, blocker: &Blocker) -> String {
        let tag = |index: usize| self.instruction(index).tag;
        let place = |index| tag(index).map(|tag| printable(self.names.place(tag)));
        let both = [blocker.event, blocker.load].map(Event::access);
        let [written, read] = both.map(|both| both.and_then(place).unwrap_or_default());
        let globals = both.map(|both| self.global(function, both?));
        let is_store = self.judge.is_store(blocker.load);
        let is_reader = function.body.is_reader(blocker.load);
        let [is_same, is_any, is_of_any] =
            [written == read, written == "omnipotent char", read == "omnipotent char"];
        let named = |at: usize, name: String| globals[at].clone().unwrap_or(name);
        let [written, read] = [named(0, written), named(1, read)];
        let why = match blocker.cause {
            Cause::NoTag if blocker.event.access().and_then(tag).is_some() => {
                "the other access has no tag, so it may be to anything".to_owned()
            }
            Cause::NoTag => match function.body.inst(blocker.event).map(|inst| inst.opcode) {
                Some(Opcode::Load) => "this load has no tag, so it may read anything".to_owned(),
                opcode => {
                    let noun = if opcode == Some(Opcode::Call) { "call" } else { "store" };
                    let copied =
                        both[0].and_then(|both| self.judge.module.instructions()[both].copy);
                    let only = if copied.is_some() {
                        "only !tbaa.struct, which LLVM's alias analysis does not read"
                    } else {
                        "no tag"
                    };
                    format!("this {noun} has {only}, so it may write anything")
                }
            },
            Cause::LoadNoTag if is_reader => {
                "what the call reads has no type, so any store may change its result".to_owned()
            }
            Cause::LoadNoTag if blocker.load != blocked.load => {
                "the pointer's load has no tag, so any store may change it".to_owned()
            }
            Cause::LoadNoTag if is_store => {
                "the store has no tag, so any access may be to what it stores".to_owned()
            }
            Cause::LoadNoTag => "the load has no tag, so any store may change it".to_owned(),
            Cause::FlattenedUnion => self.why_char(blocker),
            Cause::Covers if is_any => {
                format!("a char access may be to any object, {read} included")
            }
            Cause::Covers if is_of_any => {
                format!("{written} may be here: a char may be part of any object")
            }
            Cause::Covers => {
                format!("{written} may be {read}, because one type is an ancestor of the other")
            }
            Cause::RuleLlvm => {
                format!("rule union separates {written} and {read}, and LLVM does not")
            }
            Cause::SameType if is_same => match both[1].and_then(|both| self.base_class(both)) {
                Some(class) => format!(
                    "both are members of {class}; clang's tags name the class that declares a \
                     member, and not the derived class"
                ),
                None => "both have the same type, so no tag can separate them".to_owned(),
            },
            Cause::SameType => format!("{written} may be {read}"),
            Cause::SamePlace => "it stores to the same place".to_owned(),
            Cause::Register if is_store => "it is to the same place".to_owned(),
            Cause::Register => "it stores to the same place: LLVM would hold the value in a \
                                register through the loop"
                .to_owned(),
            Cause::Order => "it orders memory".to_owned(),
            Cause::Call => self.written_by(function, blocker.event).to_owned(),
            Cause::NoReturn { writes } => {
                let written = self.written_by(function, blocker.event);
                let written = if writes { format!("{written}, and ") } else { String::new() };
                let verb = match blocker.event.access() {
                    Some(it) if self.instruction(it).opcode == Opcode::Store => {
                        "LLVM takes a volatile store for one that may not return"
                    }
                    _ => "it may not return",
                };
                let end = if is_store { "store after it" } else { "load before it" };
                format!("{written}{verb}: LLVM may not {end}")
            }
            Cause::Errno => "it may write errno".to_owned(),
        };
        match blocker.load == blocked.load {
            true => why,
            false => format!("{why}; the load's pointer is read from there"),
        }
    }
}

/// Counts the loads of a list. Also returns a text that counts the list's stores and loops.
fn others<'f, 't: 'f>(
    before: &str,
    loads: impl Iterator<Item = InFunction<'f, 't>>,
) -> (usize, String) {
    let (mut kept, mut stores, mut loops) = (0, 0, BTreeSet::new());
    for (function, blocked) in loads {
        match &blocked.wanted {
            Wanted::Sink(_) => stores += 1,
            Wanted::Vectorise(it) => drop(loops.insert((function.index, it.header))),
            _ => kept += 1,
        }
    }
    let words = |count: usize, one: &str, many: &str| match count {
        0 => String::new(),
        1 => format!("{before}1 {one}"),
        _ => format!("{before}{count} {many}"),
    };
    let stores = words(stores, "store stays in its loop", "stores stay in their loops");
    let [one, many] =
        ["loop is", "loops are"].map(|are| format!("{are} not vectorised, or behind a check"));
    (kept, stores + &words(loops.len(), &one, &many))
}

/// Prints how many loads LLVM was asked about, and how many of these it removes or hoists.
pub(super) fn proof(figures: &Figures, passes: &str, out: &mut dyn Write) -> io::Result<()> {
    let Figures { blamed, asked, gone, tried, gone_of_tried, found, missed, .. } = figures;
    let (loads, share) = (counted(*blamed, "load"), percent(*gone as u64, *asked as u64));
    let explained = percent(*found as u64, *gone_of_tried as u64);
    writeln!(
        out,
        "{passes} leaves {loads} that stores and calls alone block. LLVM was asked about {asked} of \
         them: if what is blamed is to other memory, {gone} go ({share}).\n\
         Of {tried} loads that it leaves, {gone_of_tried} go if all accesses to other places \
         and all calls are to other memory; {found} of these go by the blamed ones alone ({explained})."
    )?;
    if missed.is_empty() {
        return Ok(());
    }
    let missed = missed.iter().map(|(why, count)| format!("{count} {why}"));
    writeln!(out, "The others: {}.", missed.collect::<Vec<_>>().join("; "))
}

const IN_USE: &str = ", but these may use that memory:";
const UNCHANGED: &str = ": nothing in between may change it";

/// The cause of a blocker that changes nothing, but might not return.
const IDLE: Cause = Cause::NoReturn { writes: false };

/// Returns `call of @f`, `call of memcpy` for `llvm.memcpy`, or `call through a pointer`.
fn call_of(callee: &[u8]) -> String {
    let of_llvm = callee.strip_prefix(b"llvm.").unwrap_or_default();
    let copies = ["memcpy", "memmove", "memset"];
    match copies.into_iter().find(|copy| of_llvm.starts_with(copy.as_bytes())) {
        _ if callee.is_empty() => "call through a pointer".to_owned(),
        Some(name) => format!("call of {name}"),
        None => format!("call of @{}", function_name(callee)),
    }
}
