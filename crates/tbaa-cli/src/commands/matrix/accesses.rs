//! Prints the tagged accesses of a function, with the answers for their pairs.
//!
//! A function with thousands of accesses has millions of pairs, but an answer depends only on the
//! two tags. So the answer is computed once for each pair of tags.

use std::collections::HashSet;
use std::io::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;
use tbaa::{Access, AliasResult, AliasRule, Graph, Oracle};
use tbaa_ir::{Instruction, Module, Sizes};

use super::answers;
use crate::find::access_of;
use crate::input::Input;
use crate::output::{counted, percent};
use crate::printable::{function_name, printable};

/// The numbers of a function's accesses, and of the pairs of its tagged accesses.
#[derive(Default, Serialize)]
struct Count {
    tagged: u64,
    untagged: u64,
    pairs: u64,
    no_alias: u64,
    may_alias: u64,
}

#[derive(Serialize)]
struct AccessRow {
    index: u32,
    /// The position among all accesses of the function, from 1. Untagged ones count too.
    access: usize,
    opcode: &'static str,
    #[serde(rename = "type")]
    ty: String,
    /// The index of the tag in [`Accesses::rows`].
    tag: usize,
}

/// The tagged accesses of a function, and the answers for their tags.
#[derive(Serialize)]
pub(super) struct Accesses {
    function: String,
    #[serde(flatten)]
    count: Count,
    accesses: Vec<AccessRow>,
    #[serde(skip)]
    pub(super) labels: Vec<String>,
    /// The distinct tags (with widths, if the rule is not `llvm`) in order of appearance.
    #[serde(skip)]
    pub(super) rows: Vec<Access>,
}

impl Accesses {
    pub(super) fn new(
        input: &Input,
        (module, sizes): (&Module<'_>, &Sizes),
        oracle: &Oracle<&Graph>,
        (name, instructions): (&[u8], &[Instruction]),
    ) -> Accesses {
        let mut uses: IndexMap<Access, u64> = IndexMap::new();
        let mut accesses = Vec::new();
        let mut count = Count::default();
        for (instruction, access) in instructions.iter().zip(1..) {
            let Some(tag) = instruction.tag else {
                count.untagged += u64::from(instruction.opcode.accesses_memory());
                continue;
            };
            let entry = uses.entry(match oracle.rule() {
                AliasRule::Llvm => tag.into(),
                _ => access_of(module, sizes, instruction),
            });
            let tag = entry.index();
            *entry.or_default() += 1;
            let opcode = match instruction.opcode.word() {
                "" => "other",
                word => word,
            };
            let ty = match module.access_type(instruction) {
                b"" => "-".to_owned(),
                ty => printable(ty),
            };
            accesses.push(AccessRow { index: instruction.index, access, opcode, ty, tag });
        }
        let (rows, uses): (Vec<Access>, Vec<u64>) = uses.into_iter().unzip();
        let may_alias = answers(oracle, &rows);
        for i in 0..rows.len() {
            for j in 0..=i {
                let pairs = if i == j { uses[i] * (uses[i] - 1) / 2 } else { uses[i] * uses[j] };
                count.pairs += pairs;
                let may = may_alias(i, j);
                *(if may { &mut count.may_alias } else { &mut count.no_alias }) += pairs;
            }
        }
        count.tagged = accesses.len() as u64;
        let labels = rows.iter().filter_map(|row| Some(input.label(row.tag?))).collect();
        let function = format!("@{}", function_name(name));
        drop(may_alias);
        Accesses { function, count, accesses, labels, rows }
    }

    pub(super) fn list(&self, out: &mut dyn Write) -> io::Result<()> {
        let Count { tagged, untagged, pairs, no_alias, may_alias } = &self.count;
        let (accesses, percent) = (counted(*tagged, "tagged access"), percent(*no_alias, *pairs));
        writeln!(
            out,
            "{}: {accesses}, {untagged} untagged; {}: {no_alias} NoAlias ({percent}), {may_alias} MayAlias",
            self.function,
            counted(*pairs, "pair"),
        )?;
        let digits = self.accesses.last().map_or(0, |last| last.access.to_string().len());
        let ty = self.accesses.iter().map(|access| access.ty.chars().count()).max().unwrap_or(0);
        for AccessRow { access: number, opcode, ty: accessed, tag, .. } in &self.accesses {
            let tag = &self.labels[*tag];
            writeln!(out, "  {number:>digits$}  {opcode:9}  {accessed:ty$}  {tag}")?;
        }
        writeln!(out)
    }

    pub(super) fn pairs(&self, oracle: &Oracle<&Graph>, out: &mut dyn Write) -> io::Result<()> {
        let may_alias = answers(oracle, &self.rows);
        for (i, a) in self.accesses.iter().enumerate() {
            for b in &self.accesses[i + 1..] {
                write!(out, "{}", self.function)?;
                for access in [a, b] {
                    let tag = &self.labels[access.tag];
                    write!(out, "\t{}\t{}\t{}\t{tag}", access.index, access.opcode, access.ty)?;
                }
                let answer = match may_alias(a.tag, b.tag) {
                    true => AliasResult::MayAlias,
                    false => AliasResult::NoAlias,
                };
                writeln!(out, "\t{answer}")?;
            }
        }
        Ok(())
    }
}

pub(super) fn distinct_tags(instructions: &[Instruction]) -> usize {
    instructions.iter().filter_map(|instruction| instruction.tag).collect::<HashSet<_>>().len()
}

pub(super) fn count_pairs<'m>(functions: impl Iterator<Item = &'m [Instruction]>) -> u64 {
    let tagged = |all: &[Instruction]| all.iter().filter(|it| it.tag.is_some()).count() as u64;
    functions.map(tagged).map(|count| count * count.saturating_sub(1) / 2).sum()
}
