//! `tbaa strip`: a module with some of its tags left off.

use std::hash::Hasher;
use std::io::Write;

use tbaa::text::{Instruction, Module, RewriteError, Rewriter};

use crate::args::{Bits, Strip};
use crate::input::{Content, Input};
use crate::report::Failure;

pub(super) fn run(args: &Strip, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let mut dropped = Vec::new();
    for name in &args.drop {
        dropped.push(input.pair(name, name)?.0);
    }
    let Content::Module(module) = &input.content else {
        return Err(Failure::unusable(format!(
            "{} is a spec, which has no instructions; name a .ll file",
            input.file()
        )));
    };
    let names: Vec<_> = module.functions().collect();
    let mut number = 0;
    let keep = |index: usize| {
        let instruction = &module.instructions()[index];
        if instruction.tag.is_none() && instruction.copy.is_none() {
            return true;
        }
        number += 1;
        if !dropped.is_empty() {
            return instruction.tag.is_none_or(|tag| !dropped.contains(&tag));
        }
        if !args.hash.is_empty() {
            let hash = hash(names[instruction.function as usize], instruction);
            return args.hash.iter().any(|bits| bits.end(hash));
        }
        number <= args.keep
    };
    write(&input, module, keep, &mut { out })
}

/// Writes the module; of its instructions only those for which `keep` answers
/// so have `!tbaa` and `!tbaa.struct`.
pub(super) fn write(
    input: &Input,
    module: &Module,
    mut keep: impl FnMut(usize) -> bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut rewriter = Rewriter::new(input.text(), module);
    for index in 0..module.instructions().len() {
        if !keep(index) {
            rewriter.set_metadata(index, "tbaa", None);
            rewriter.set_metadata(index, "tbaa.struct", None);
        }
    }
    let mut out = std::io::BufWriter::with_capacity(1 << 16, out);
    rewriter.write(&mut out).and_then(|()| Ok(out.flush()?)).map_err(|error| match error {
        RewriteError::Text(error) => {
            Failure::at(input.file(), input.text(), error.offset, error.kind.to_string())
        }
        RewriteError::Output(error) => Failure::Output(error),
        error => Failure::unusable(error.to_string()),
    })
}

/// A number of an access that does not change when other functions do.
fn hash(function: &[u8], instruction: &Instruction) -> u64 {
    let mut hash = Fnv::default();
    hash.write(function);
    hash.write(&instruction.index.to_le_bytes());
    // The low bits of FNV are poor.
    let hash = hash.finish();
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

impl Bits {
    fn end(self, hash: u64) -> bool {
        hash & ((1 << self.len) - 1) == self.value
    }
}

/// The same hash of the same bytes everywhere.
///
/// Source: Fowler, Noll, Vo: FNV-1a, 64 bits.
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
