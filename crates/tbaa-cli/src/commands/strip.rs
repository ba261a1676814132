//! `tbaa strip`: prints a module without some of its tags.

use std::io::Write;

use clap_complete::ArgValueCompleter;
use tbaa::parts::fnv;
use tbaa_ir::{Instruction, Module, Rewriter};

use super::completions::accesses;
use crate::convert::InputArg;
use crate::input::Input;
use crate::report::Result;

/// Prints a module without its tags, or without some of them.
///
/// It leaves out `!tbaa` and `!tbaa.struct`, and copies all else unchanged. An access is
/// an instruction with one of these two.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/strip.txt"))]
pub(crate) struct Strip {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// Keep the tags of the first N accesses, in file order.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with_all = ["hash", "drop"])]
    pub(crate) keep: usize,
    /// Keep the tags of accesses whose hash ends in these binary digits. The hash is
    /// that of the function's name and the instruction's position in it.
    #[arg(long, value_name = "BITS", conflicts_with = "drop")]
    pub(crate) hash: Vec<Bits>,
    /// Drop this tag, or the tags of this access or line, and keep all others.
    #[arg(long, value_name = "TAG", add = ArgValueCompleter::new(accesses))]
    pub(crate) drop: Vec<String>,
}

/// The last binary digits of a hash.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    value: u64,
    len: u32,
}

impl std::str::FromStr for Bits {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected 1 to 32 binary digits, such as 0110";
        let digits =
            (1..=32).contains(&text.len()) && text.bytes().all(|byte| b"01".contains(&byte));
        let value = u64::from_str_radix(text, 2).ok().filter(|_| digits).ok_or(expected)?;
        Ok(Bits { value, len: text.len() as u32 })
    }
}

pub(super) fn run(args: &Strip, out: &mut dyn Write) -> Result {
    let mut input = Input::open(&args.input)?;
    let names: Vec<&str> = args.drop.iter().map(String::as_str).collect();
    let dropped = input.find(&names)?.concat();
    let module = input.module()?;
    let names: Vec<_> = module.functions().collect();
    let mut number = 0;
    let mut keep = |index: usize| {
        let instruction = &module.instructions()[index];
        if instruction.tag.is_none() && instruction.copy.is_none() {
            return true;
        }
        number += 1;
        if !dropped.is_empty() {
            // Each item is one access, or a tag, which stands for all accesses with this tag.
            return !dropped.iter().any(|found| match found.instruction {
                Some(dropped) => dropped == index,
                None => instruction.tag.is_some() && found.tag == instruction.tag,
            });
        }
        if !args.hash.is_empty() {
            let hash = hash(names[instruction.function as usize], instruction);
            return args.hash.iter().any(|bits| hash & ((1 << bits.len) - 1) == bits.value);
        }
        number <= args.keep
    };
    write(&input, module, |index| if keep(index) { &[] } else { &TAGS }, &mut { out })
}

pub(super) const TAGS: [&str; 2] = ["tbaa", "tbaa.struct"];

/// Writes the module. `drop` returns the kinds of metadata that the instruction at an index loses.
pub(super) fn write(
    input: &Input,
    module: &Module<'_>,
    mut drop: impl FnMut(usize) -> &'static [&'static str],
    out: &mut impl Write,
) -> Result {
    let mut rewriter = Rewriter::new(module);
    for index in 0..module.instructions().len() {
        drop(index).iter().for_each(|kind| rewriter.set_metadata(index, kind, None));
    }
    let text = rewriter.to_bytes().map_err(|error| input.wrong(&error))?;
    Ok(out.write_all(&text)?)
}

fn hash(function: &[u8], instruction: &Instruction) -> u64 {
    let hash = fnv(function.iter().chain(&instruction.index.to_le_bytes()));
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}
