//! What `tbaa blocks` prints.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::Serialize;
use tbaa_ir::{DebugInfo, Names};

use super::super::counted;
use super::Function;
use super::advice::Advisor;
use super::blame::{Blocked, Blocker, Cause, Judge, Wanted};
use super::body::Event;
use super::proof::{Figures, Sample, is_of_types};
use super::prove::Outcome;
use crate::char_origin::{CharOrigins, is_wider_char};
use crate::find::{access_name, in_function};
use crate::input::Input;
use crate::printable::{function_name, printable};
use tbaa_ir::Opcode;

/// Accesses with the value that are listed.
const SHOWN: usize = 3;

pub(super) struct Shown<'a> {
    pub(super) input: &'a Input,
    pub(super) names: &'a Names<'a>,
    pub(super) debug: &'a DebugInfo<'a>,
    pub(super) advisor: Advisor<'a>,
    pub(super) judge: &'a Judge<'a>,
    pub(super) sample: Option<&'a Sample>,
    pub(super) origins: CharOrigins<'a>,
}

/// A load in `--format json`.
#[derive(Serialize)]
pub(crate) struct Row {
    function: String,
    load: ShownEvent,
    /// `reuse`, `reuse on some ways` or `hoist`.
    could: &'static str,
    /// The accesses whose value could be reused, one on each way.
    of: Vec<ShownEvent>,
    /// The block that begins the loop.
    header: Option<String>,
    blockers: Vec<BlockerRow>,
    /// What LLVM makes of the load with what is blamed tagged apart.
    outcome: Option<&'static str>,
}

#[derive(Serialize)]
struct BlockerRow {
    #[serde(flatten)]
    place: ShownEvent,
    cause: &'static str,
    why: String,
    help: String,
}

/// An access or a call.
#[derive(Serialize)]
struct ShownEvent {
    /// `@f:2`; none of a call.
    access: Option<String>,
    /// What it is, with what its tag means.
    what: String,
    tag: Option<String>,
    /// `f.c:14`.
    source: Option<String>,
    /// Bytes from the start of the text.
    offset: usize,
}

/// A load with the function that it is in.
pub(super) type InFunction<'f, 't> = (&'f Function<'t>, &'f Blocked);

#[derive(Serialize)]
pub(super) struct Document<'a> {
    file: &'a str,
    loads: Vec<Row>,
    proof: Option<&'a Figures>,
}

impl<'a> Shown<'a> {
    pub(super) fn document(&self, loads: Vec<Row>) -> Document<'_> {
        let proof = self.sample.map(|sample| &sample.figures);
        Document { file: self.input.file(), loads, proof }
    }

    fn function_name(&self, function: &Function<'_>) -> String {
        let name = self.judge.module.functions().nth(function.index as usize).unwrap_or(b"?");
        format!("@{}", function_name(name))
    }

    pub(super) fn rows(&self, function: &Function<'_>, loads: &[&Blocked]) -> Vec<Row> {
        let name = self.function_name(function);
        let places = |accesses: &[usize]| {
            accesses.iter().map(|&it| self.place(function, Event::Access(it))).collect::<Vec<_>>()
        };
        let row = |blocked: &&Blocked| {
            let (could, of, header) = match &blocked.wanted {
                Wanted::Reuse(earlier) => ("reuse", places(earlier), None),
                Wanted::Partly(earlier) => ("reuse on some ways", places(earlier), None),
                Wanted::Hoist(header) => ("hoist", Vec::new(), Some(label(function, *header))),
            };
            let blockers = blocked.blockers.iter().map(|blocker| BlockerRow {
                place: self.place(function, blocker.event),
                cause: code(blocker.cause),
                why: self.why(blocked, blocker),
                help: self.advisor.of(function, blocked, blocker),
            });
            Row {
                function: name.clone(),
                load: self.place(function, Event::Access(blocked.load)),
                could,
                of,
                header,
                blockers: blockers.collect(),
                outcome: self.outcome(blocked),
            }
        };
        loads.iter().map(row).collect()
    }

    /// The loads of a function, each with what keeps it. A function without any
    /// is left out of a list of all.
    pub(super) fn text(
        &self,
        function: &Function<'_>,
        loads: &[&Blocked],
        is_all: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if is_all && loads.is_empty() {
            return Ok(());
        }
        let is_load = |it: &usize| self.judge.module.instructions()[*it].opcode == Opcode::Load;
        let count = in_function(self.judge.module, function.index).filter(is_load).count();
        let kept = function.loads.iter().filter(|it| !it.blockers.is_empty()).count();
        writeln!(
            out,
            "{}: {}, {kept} kept by stores or calls",
            self.function_name(function),
            counted(count as u64, "load", "loads"),
        )?;
        for blocked in loads {
            self.one(function, blocked, usize::MAX, out)?;
        }
        writeln!(out)
    }

    /// The first loads of a list, and what keeps most of the list.
    pub(super) fn ranked(
        &self,
        loads: &[InFunction<'_, '_>],
        top: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let in_loops = loads.iter().filter(|it| it.1.depth > 0).count();
        writeln!(
            out,
            "Stores and calls keep {}, {in_loops} of them in loops. The first {top}, innermost loops \
             first:\n",
            counted(loads.len() as u64, "load", "loads"),
        )?;
        for (function, blocked) in loads.iter().take(top) {
            let loops = match blocked.depth {
                0 => "in no loop".to_owned(),
                1 => "in a loop".to_owned(),
                depth => format!("in {depth} loops"),
            };
            writeln!(out, "{}, {loops}", self.function_name(function))?;
            self.one(function, blocked, SHOWN, out)?;
            writeln!(out)?;
        }
        let mut by_place: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut by_tag: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let add = |to: &mut BTreeMap<_, (usize, usize)>, key: String, in_loop: bool| {
            let entry = to.entry(key).or_default();
            entry.0 += 1;
            entry.1 += usize::from(in_loop);
        };
        for (function, blocked) in loads {
            let in_loop = blocked.depth > 0;
            let mut seen = BTreeSet::new();
            for blocker in &blocked.blockers {
                add(&mut by_place, self.line(function, blocker.event), in_loop);
                let place = self.place(function, blocker.event);
                if seen.insert(place.what.clone()) {
                    add(&mut by_tag, place.what, in_loop);
                }
            }
        }
        for (title, counts) in [("What keeps most loads:", by_place), ("By what it is:", by_tag)] {
            let mut counts: Vec<_> = counts.into_iter().collect();
            counts.sort_by_key(|(_, (all, in_loops))| (Reverse(*in_loops), Reverse(*all)));
            writeln!(out, "{title}")?;
            writeln!(out, "   loads  in loops")?;
            for (what, (all, in_loops)) in counts.into_iter().take(top) {
                writeln!(out, "{all:>8}{in_loops:>10}  {what}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "--all lists all loads, --loops those in loops, --top COUNT the first ones.")
    }

    fn one(
        &self,
        function: &Function<'_>,
        blocked: &Blocked,
        most: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "  {}", self.line(function, Event::Access(blocked.load)))?;
        let may = if blocked.blockers.is_empty() {
            "and nothing in between may change it"
        } else {
            "but for"
        };
        match &blocked.wanted {
            Wanted::Reuse(earlier) => {
                writeln!(
                    out,
                    "    could reuse the value of {}, {may}",
                    self.any(function, earlier)
                )?;
            }
            Wanted::Partly(earlier) => {
                let from = self.any(function, earlier);
                writeln!(out, "    could reuse the value of {from} on all ways but one, {may}")?;
            }
            Wanted::Hoist(header) => {
                let at = match self.source_of(function, *header) {
                    Some(line) => line,
                    None => format!("%{}", label(function, *header)),
                };
                writeln!(out, "    could be done once, before the loop at {at}, {may}")?;
            }
        }
        let mut helped = Vec::new();
        for (at, blocker) in blocked.blockers.iter().enumerate() {
            let why = self.why(blocked, blocker);
            match at.cmp(&most) {
                Ordering::Less => {
                    writeln!(out, "      {}: {why}", self.line(function, blocker.event))?;
                }
                Ordering::Equal => {
                    writeln!(out, "      and {} more", blocked.blockers.len() - most)?;
                }
                Ordering::Greater => {}
            }
            let help = self.advisor.of(function, blocked, blocker);
            if !helped.contains(&help) {
                helped.push(help);
            }
        }
        for help in helped {
            writeln!(out, "    help: {help}")?;
        }
        if let Some(outcome) = self.outcome(blocked) {
            writeln!(out, "    LLVM, with the blamed stores tagged apart: {outcome}")?;
        } else if self.sample.is_some() && !is_of_types(blocked) && !blocked.blockers.is_empty() {
            writeln!(out, "    LLVM was not asked: tags alone cannot free it")?;
        }
        Ok(())
    }

    /// The line of the source that a block begins with.
    fn source_of(&self, function: &Function<'_>, block: usize) -> Option<String> {
        let offset = function.body.first_offset(block)?;
        let at = self.debug.location_at(offset)?;
        Some(printable(format!("{}:{}", at.file, at.line).as_bytes()))
    }

    /// Some of the accesses, one of which holds.
    fn any(&self, function: &Function<'_>, accesses: &[usize]) -> String {
        let shown = accesses.iter().take(SHOWN).map(|&it| self.line(function, Event::Access(it)));
        let more = if accesses.len() > SHOWN { " or another" } else { "" };
        format!("{}{more}", shown.collect::<Vec<_>>().join(" or "))
    }

    fn outcome(&self, blocked: &Blocked) -> Option<&'static str> {
        let sample = self.sample?;
        if sample.is_gone(blocked.load) {
            return Some("it is gone without any change");
        }
        Some(match sample.outcome(blocked.load)? {
            Outcome::Kept => "it is kept",
            Outcome::Removed => "it is gone",
            Outcome::Moved => "it is done elsewhere, once for the loop",
        })
    }

    /// `@f:2 store long, f.c:6`.
    fn line(&self, function: &Function<'_>, event: Event) -> String {
        let ShownEvent { access, what, source, .. } = self.place(function, event);
        let access = access.map(|access| format!("{access} ")).unwrap_or_default();
        let source = source.map(|source| format!(", {source}")).unwrap_or_default();
        format!("{access}{what}{source}")
    }

    fn place(&self, function: &Function<'_>, event: Event) -> ShownEvent {
        let offset = self.judge.offset(event);
        let source =
            |at: tbaa_ir::Location| printable(format!("{}:{}", at.file, at.line).as_bytes());
        let Event::Access(index) = event else {
            let statement = function.body.at(offset);
            let callee = statement.and_then(|it| it.call()).map_or(&b""[..], |call| call.callee);
            let what = match (statement.map(|it| it.word), callee) {
                (Some(b"fence"), _) => "fence".to_owned(),
                (_, b"") => "call through a pointer".to_owned(),
                (_, name) if library_function(name).is_some() => {
                    format!("call of {}", library_function(name).unwrap_or_default())
                }
                _ => format!("call of @{}", printable(callee)),
            };
            let source = self.debug.location_at(offset).map(source);
            return ShownEvent { access: None, what, tag: None, source, offset };
        };
        let instruction = &self.judge.module.instructions()[index];
        let verb = match instruction.opcode {
            Opcode::Load => "load",
            Opcode::Store => "store",
            Opcode::AtomicRmw => "atomicrmw",
            Opcode::CmpXchg => "cmpxchg",
            _ => "call",
        };
        let what = match instruction.tag {
            Some(tag) => format!("{verb} {}", printable(self.names.tag(tag).as_bytes())),
            None => {
                let ty = printable(self.judge.module.access_type(instruction));
                format!("{verb}{}{ty} without a tag", if ty.is_empty() { "" } else { " " })
            }
        };
        ShownEvent {
            access: Some(access_name(self.judge.module, index)),
            what,
            tag: instruction.tag.map(|tag| self.input.label(tag)),
            source: self.debug.location(instruction).map(source),
            offset,
        }
    }

    /// Which of the two accesses is tagged as `char`, and why.
    fn why_char(&self, blocker: &Blocker) -> String {
        let both = [("", blocker.event.access()), ("of the load: ", Some(blocker.load))];
        let mut origins = both.into_iter().filter_map(|(whose, index)| {
            let instruction = &self.judge.module.instructions()[index?];
            let is_wider = is_wider_char(self.judge.module, instruction);
            let origin = is_wider.then(|| self.origins.of(instruction))??;
            Some(format!("{whose}{}", origin.words()))
        });
        origins.next().unwrap_or_default()
    }

    fn why(&self, blocked: &Blocked, blocker: &Blocker) -> String {
        let tag = |index: usize| self.judge.module.instructions()[index].tag;
        let place = |index| tag(index).map(|tag| printable(self.names.place(tag).as_bytes()));
        let written = match blocker.event {
            Event::Access(index) => place(index),
            Event::Other(_) => None,
        };
        let [written, read] = [written, place(blocker.load)].map(Option::unwrap_or_default);
        let why = match blocker.cause {
            Cause::NoTag => "it has no tag".to_owned(),
            Cause::LoadNoTag if blocker.load != blocked.load => {
                "the pointer's load has no tag".to_owned()
            }
            Cause::LoadNoTag => "the load has no tag".to_owned(),
            Cause::FlattenedUnion => self.why_char(blocker),
            Cause::Covers => format!("{written} may be {read}, as one covers the other's type"),
            Cause::RuleLlvm => {
                format!("rule union tells {written} and {read} apart, rule llvm does not")
            }
            Cause::SameType if written == read => format!("it may be the same {read}"),
            Cause::SameType => format!("{written} may be {read}"),
            Cause::SamePlace => "it stores to the same place".to_owned(),
            Cause::Order => "it orders memory".to_owned(),
            Cause::Call => "it may write anything".to_owned(),
            Cause::Errno => "it may write errno".to_owned(),
        };
        if blocker.load == blocked.load {
            return why;
        }
        format!("{why}, through which this is loaded")
    }
}

/// The C function that one of LLVM's stands for.
fn library_function(callee: &[u8]) -> Option<&'static str> {
    let name = callee.strip_prefix(b"llvm.")?;
    ["memcpy", "memmove", "memset"].into_iter().find(|it| name.starts_with(it.as_bytes()))
}

fn label(function: &Function<'_>, block: usize) -> String {
    String::from_utf8_lossy(function.body.blocks[block].label).into_owned()
}

fn code(cause: Cause) -> &'static str {
    match cause {
        Cause::NoTag => "no tag",
        Cause::LoadNoTag => "load without a tag",
        Cause::FlattenedUnion => "flattened union",
        Cause::Covers => "covering type",
        Cause::RuleLlvm => "rule llvm",
        Cause::SameType => "same type",
        Cause::SamePlace => "same place",
        Cause::Order => "order",
        Cause::Call => "call",
        Cause::Errno => "errno",
    }
}
