//! Prints the guilty accesses: those whose tags cause the fault that `tbaa bisect` searches for.
//! The accesses of a class have equal tags and scopes.

use std::io::{self, Write};
use tbaa::raw::RawGraph;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_check::link::Summary;
use tbaa_ir::{DebugInfo, Instruction, position};

use super::Accesses;
use super::check::Verdict;
use crate::input::Input;
use crate::output::counted;
use crate::printable::{function_name, printable};
use crate::report::{Result, place};

/// A set of accesses whose tags are enough to cause the fault.
pub(super) struct Found {
    /// Indices into the list of [`Accesses`].
    pub(super) guilty: Vec<usize>,
    /// True if the fault goes away when only the guilty accesses lose their tags.
    pub(super) cures_alone: bool,
    /// Each class in `guilty`, and true if the fault goes away when the class loses its tags.
    pub(super) cures: Vec<(usize, bool)>,
    /// True if `cures_alone` and all `cures` are false, and the fault shows even when all classes
    /// in `cures` lose their tags.
    pub(super) more: bool,
    /// True if the fault needs the alias scopes of the guilty accesses.
    pub(super) by_scopes: bool,
}

/// The largest number of pairs of accesses that are explained.
const PAIRS: usize = 10;
/// The largest number of characters that are shown of an instruction.
const SHOWN: usize = 160;

struct Guilty<'a> {
    input: &'a Input,
    module: usize,
    instruction: &'a Instruction,
    function: String,
    class: usize,
}

impl Guilty<'_> {
    /// Returns the tags of the access: its `!tbaa` tag, and those in its `!tbaa.struct`.
    fn tags(&self) -> impl Iterator<Item = TagId> {
        let Instruction { tag, copy, .. } = self.instruction;
        let entries = copy.and_then(|copy| self.input.graph().copy(copy)).unwrap_or_default();
        tag.iter().copied().chain(entries.into_iter().map(|entry| entry.tag))
    }
}

impl Found {
    pub(super) fn write(
        &self,
        inputs: &[Input],
        accesses: &Accesses,
        check: impl FnOnce(&[usize]) -> Verdict,
        out: &mut dyn Write,
    ) -> Result {
        let mut guilty = Vec::new();
        for &access in &self.guilty {
            let (module, index) = accesses.instruction(access);
            let input = &inputs[module];
            let instruction = &input.module()?.instructions()[index];
            let name = input.module()?.functions().nth(instruction.function as usize);
            let function = function_name(name.unwrap_or_default()).to_string();
            let class = accesses.class(access);
            guilty.push(Guilty { input, module, instruction, function, class });
        }
        guilty.sort_by_key(|guilty| (guilty.module, guilty.instruction.offset));
        let are = if guilty.len() == 1 { "is" } else { "are" };
        let all = match accesses.has_scopes {
            false => counted(accesses.list.len(), "tagged access"),
            true => format!("{} accesses with tags or scopes", accesses.list.len()),
        };
        writeln!(out, "{} of {all} {are} enough to cause the fault:", guilty.len())?;
        for (number, guilty) in (1..).zip(&guilty) {
            let Guilty { input, instruction, function, .. } = guilty;
            let at = place(input.file(), position(input.text(), instruction.offset as usize));
            let debug = DebugInfo::new(input.module()?);
            // Name the line in the source, which users know, before the line in the assembly text.
            match debug.location(instruction).filter(|source| source.line > 0) {
                Some(source) => {
                    let position = (source.line as usize, source.column as usize);
                    let source = place(&source.file, position);
                    writeln!(out, "  {number}  {source}, in @{function} ({at})")?;
                }
                None => writeln!(out, "  {number}  {at}, in @{function}")?,
            }
            writeln!(out, "     {}", line(input.text(), instruction))?;
            let meanings = input.names();
            for tag in guilty.tags() {
                writeln!(out, "     {}", input.described(&meanings, tag))?;
            }
        }
        if self.by_scopes {
            writeln!(
                out,
                "without !alias.scope and !noalias these accesses do not show it: their scopes promise what is \
                 false, or LLVM misreads them. Scopes are not checked at run time; one that is declared in a \
                 loop holds for one turn"
            )?;
        } else {
            pairs(&guilty, || check(&self.guilty), out)?;
        }
        writeln!(out, "the fault goes away")?;
        let yes = |cures| if cures { "yes" } else { "no " };
        let these = match guilty.len() {
            _ if accesses.has_scopes => "what these accesses promise",
            1 => "its tag",
            _ => "their tags",
        };
        writeln!(out, "  {}  without {these}", yes(self.cures_alone))?;
        for &(class, cures) in &self.cures {
            let first = guilty.iter().find(|guilty| guilty.class == class);
            let labels = first.map(|guilty| guilty.tags().map(move |tag| guilty.input.label(tag)));
            let mut labels: Vec<_> = labels.into_iter().flatten().collect();
            labels.extend(accesses.has_scopes.then(|| "their scopes".to_owned()));
            let labels = labels.join(" and ");
            let count = accesses.list.iter().filter(|access| access.2 == class).count();
            writeln!(out, "  {}  without {labels} on {}", yes(cures), counted(count, "access"))?;
        }
        if self.more {
            writeln!(out, "  no   without any of these: other tags are guilty too; see --sets")?;
        }
        Ok(())
    }
}

/// Links the modules' graphs and the accesses' tags; `None` if a module or tag cannot be linked.
fn joined(guilty: &[Guilty<'_>]) -> Option<(Graph, Vec<Vec<TagId>>)> {
    let summary = |guilty: &Guilty<'_>| Summary::of(guilty.input.file(), guilty.input.graph());
    let (parts, own): (Vec<_>, Vec<_>) = guilty.iter().map(summary).unzip();
    let (linked, maps) = Summary::link(&parts.iter().collect::<Vec<_>>());
    let (mut graph, nodes) = linked.graph().ok()?;
    let mut all = Vec::new();
    for ((guilty, own), map) in guilty.iter().zip(&own).zip(&maps) {
        let mut list = Vec::new();
        for tag in guilty.tags() {
            let place = map.follow(own.place(guilty.input.graph().tag_node(tag))?)?;
            list.push(graph.mark_tag(*nodes.get(place)?));
        }
        all.push(list);
    }
    Some((graph, all))
}

/// Prints pairs that are NoAlias by `AliasRule::Llvm`, then remarks and perhaps a verdict.
/// LLVM compares accesses of one function, after inlining. So a pair from two functions is shown
/// only if one of its accesses is in no pair within a function.
fn pairs(
    guilty: &[Guilty<'_>],
    check: impl FnOnce() -> Verdict,
    out: &mut dyn Write,
) -> io::Result<()> {
    let one_module = guilty.iter().all(|of| of.module == guilty[0].module);
    let together = if one_module { None } else { joined(guilty) };
    let (graph, tags) = match &together {
        Some((graph, tags)) => (graph, tags.clone()),
        None => {
            let own = guilty.iter().map(|of| of.tags().collect());
            (guilty[0].input.graph(), own.collect::<Vec<Vec<TagId>>>())
        }
    };
    let [llvm, union] = [AliasRule::Llvm, AliasRule::Union].map(|rules| Oracle::new(graph, rules));
    let mut apart = Vec::new();
    for (i, a) in tags.iter().enumerate() {
        for (j, b) in tags.iter().enumerate().skip(i + 1) {
            let mut pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
            let pair = pairs.find(|&(a, b)| !llvm.may_alias(a, b));
            let function = |at: usize| (guilty[at].module, &guilty[at].function);
            let near = function(i) == function(j);
            apart.extend(pair.map(|pair| (i + 1, j + 1, pair, near)));
        }
    }
    let is_near = |at: usize| apart.iter().any(|&(i, j, _, near)| near && (i == at || j == at));
    let near: Vec<bool> = (0..=guilty.len()).map(is_near).collect();
    apart.retain(|&(i, j, _, is_near)| is_near || !(near[i] && near[j]));
    let mut by_union = 0;
    for &(i, j, (a, b), _) in apart.iter().take(PAIRS) {
        writeln!(out, "their tags promise that {i} and {j} never overlap")?;
        for (rules, oracle) in [(AliasRule::Llvm, &llvm), (AliasRule::Union, &union)] {
            let why = oracle.explain(a, b);
            by_union += usize::from(rules == AliasRule::Union && why.clause.is_no_alias());
            let rules = rules.to_string();
            writeln!(out, "  {rules:5}  {}: {}", why.answer, why.clause)?;
        }
    }
    if let more @ 1.. = apart.len().saturating_sub(PAIRS) {
        writeln!(out, "and so do those of {}", counted(more, "more pair"))?;
    }
    let shown = apart.len().min(PAIRS);
    let is_immutable = |of: &Guilty<'_>| {
        of.tags().any(|tag| of.input.graph().tag(tag).is_ok_and(|tag| tag.immutable))
    };
    let is_immutable = guilty.iter().any(is_immutable);
    let remark = if is_immutable {
        "a tag says that memory is constant: nothing may write it after it is first read\n"
    } else if apart.is_empty() {
        "no two of these tags are NoAlias, which tells LLVM nothing; is the fault the same in each run?\n"
    } else if by_union < shown {
        "rule union knows that bytes are shared, which LLVM does not see in the types\n"
    } else {
        ""
    };
    write!(out, "{remark}")?;
    if by_union == shown && shown > 1 {
        writeln!(out, "LLVM needs all {shown} promises for the fault")?;
    }
    // If `Union` answers MayAlias for a pair, LLVM overlooks shared bytes: no checks are needed.
    match is_immutable || !apart.is_empty() && by_union == shown {
        true => check().write(is_immutable, out),
        false => Ok(()),
    }
}

/// Returns an instruction's text up to the end of its line, cut after [`SHOWN`] characters.
fn line(text: &[u8], instruction: &Instruction) -> String {
    let rest = &text[instruction.offset as usize..];
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let line = printable(rest[..end].trim_ascii_end());
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}
