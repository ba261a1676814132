//! The guilty tags, in words.

use std::io::{self, Write};

use tbaa::{Graph, Oracle, Rules, TagId};
use tbaa_ir::{DebugInfo, Instruction, Module};

use super::{Accesses, counted};
use crate::input::Input;
use crate::printable::{Position, llvm_name, printable};
use crate::report::place;

/// A set of accesses whose tags show the fault by themselves.
pub(super) struct Found {
    /// By position in the list of accesses.
    pub(super) guilty: Vec<usize>,
    /// Whether the fault goes away where these accesses alone have no tag.
    pub(super) cures_alone: bool,
    /// Their tags, and whether it goes away where no access has that tag.
    pub(super) cures: Vec<(usize, bool)>,
    /// Whether it shows without any of these tags, too.
    pub(super) more: bool,
}

/// Pairs that are explained.
const PAIRS: usize = 10;
/// How much of an instruction is shown, in characters.
const SHOWN: usize = 160;

impl Found {
    pub(super) fn write(
        &self,
        input: &Input,
        module: &Module,
        accesses: &Accesses,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let instruction = |access| &module.instructions()[accesses.instruction(access)];
        let mut guilty: Vec<_> = self.guilty.iter().map(|&access| instruction(access)).collect();
        guilty.sort_by_key(|instruction| instruction.offset);
        let shown = match guilty.len() {
            1 => "shows the fault by itself",
            _ => "show the fault by themselves",
        };
        let all = counted(accesses.len() as u64, "tagged access", "tagged accesses");
        writeln!(out, "{} of {all} {shown}:", guilty.len())?;
        let names: Vec<_> = module.functions().collect();
        let meanings = input.names();
        let debug = DebugInfo::new(input.text());
        for (number, instruction) in (1..).zip(&guilty) {
            let at = place(input.file(), Position::of(input.text(), instruction.offset as usize));
            let function = llvm_name(names[instruction.function as usize]);
            let source = debug.location(instruction).map_or(String::new(), |source| {
                let position =
                    Position { line: source.line as usize, column: source.column as usize };
                format!(", from {}", place(&source.file, position))
            });
            writeln!(out, "  {number}  {at}, in @{function}{source}")?;
            writeln!(out, "     {}", line(input.text(), instruction))?;
            for tag in tags(module.graph(), instruction) {
                writeln!(out, "     {}", input.described(&meanings, tag))?;
            }
        }
        pairs(module.graph(), &guilty, out)?;
        writeln!(out, "the fault goes away")?;
        let yes = |cures| if cures { "yes" } else { "no " };
        let these = if guilty.len() == 1 { "its tag" } else { "their tags" };
        writeln!(out, "  {}  without {these}", yes(self.cures_alone))?;
        for &(class, cures) in &self.cures {
            let of = |access: &&usize| accesses.class(**access) == class;
            let first = self.guilty.iter().find(of).map(|&access| instruction(access));
            let labels = first.map(|first| {
                tags(module.graph(), first).map(|tag| input.label(tag)).collect::<Vec<_>>()
            });
            let labels = labels.unwrap_or_default().join(" and ");
            let count = counted(accesses.count(class), "access", "accesses");
            writeln!(out, "  {}  without {labels} on {count}", yes(cures))?;
        }
        if self.more {
            writeln!(out, "  no   without any of these: other tags are guilty too; see --sets")?;
        }
        Ok(())
    }
}

/// Says for which pairs of accesses LLVM is told that they do not overlap.
fn pairs(graph: &Graph, guilty: &[&Instruction], out: &mut dyn Write) -> io::Result<()> {
    let [llvm, union] = [Rules::Llvm, Rules::Union].map(|rules| Oracle::new(graph, rules));
    let mut apart = Vec::new();
    for (i, a) in guilty.iter().enumerate() {
        for (j, b) in guilty.iter().enumerate().skip(i + 1) {
            let tags_b: Vec<_> = tags(graph, b).collect();
            let pair = tags(graph, a)
                .flat_map(|a| tags_b.iter().map(move |&b| (a, b)))
                .find(|&(a, b)| !llvm.may_alias(a, b));
            apart.extend(pair.map(|pair| (i + 1, j + 1, pair)));
        }
    }
    let mut by_union = 0;
    for &(i, j, (a, b)) in apart.iter().take(PAIRS) {
        writeln!(out, "{i} and {j} are to different memory, their tags say")?;
        for (rules, oracle) in [(Rules::Llvm, &llvm), (Rules::Union, &union)] {
            let why = oracle.explain(a, b);
            by_union += usize::from(rules == Rules::Union && why.clause.is_no_alias());
            let rules = rules.to_string();
            writeln!(out, "  {rules:5}  {}: {}", why.answer, why.clause)?;
        }
    }
    if let more @ 1.. = apart.len().saturating_sub(PAIRS) {
        writeln!(out, "and so do those of {}", counted(more as u64, "more pair", "more pairs"))?;
    }
    let shown = apart.len().min(PAIRS);
    let constant = |i: &&&Instruction| tags(graph, i).any(|tag| is_constant(graph, tag));
    if guilty.iter().any(|i| constant(&i)) {
        writeln!(
            out,
            "a tag says that memory is constant: nothing may write it after it is first read"
        )?;
    } else if apart.is_empty() {
        writeln!(
            out,
            "no two of these tags are NoAlias, which tells LLVM nothing; is the fault the same in each run?"
        )?;
    } else if by_union == shown {
        writeln!(out, "one of the two tags does not fit what its access touches")?;
    } else {
        writeln!(
            out,
            "rule union knows that bytes are shared, which LLVM does not see in the types"
        )?;
    }
    Ok(())
}

/// The tags of an access: its own, and those of the parts of a copy.
fn tags<'g>(graph: &'g Graph, instruction: &Instruction) -> impl Iterator<Item = TagId> + use<'g> {
    let entries = instruction.copy.and_then(|copy| graph.copy(copy)).unwrap_or_default();
    instruction.tag.into_iter().chain(entries.into_iter().map(|entry| entry.tag))
}

fn is_constant(graph: &Graph, tag: TagId) -> bool {
    graph.tag(tag).is_ok_and(|tag| tag.immutable)
}

/// The line of an instruction from its start on.
fn line(text: &[u8], instruction: &Instruction) -> String {
    let rest = &text[instruction.offset as usize..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let line = printable(rest[..end].trim_ascii_end());
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}
