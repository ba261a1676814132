//! Checks for loads, stores and atomic accesses.

use std::fmt::Write;

use super::{Check, Current, Direction, Form, SkipReason, assembly, check, inline};
use tbaa::TagId;
use tbaa_ir::{Inst, Instruction, Opcode};
use tbaa_types::TypeKind;

impl Current<'_, '_> {
    pub(super) fn access(&mut self, inst: &Inst, access: &Instruction) {
        if access.opcode == Opcode::VaArg || access.opcode == Opcode::Other {
            return self.skip(inst, SkipReason::Call);
        }
        let Some(pointer) = self.function.pointer(inst) else {
            return self.skip(inst, SkipReason::Unreadable);
        };
        if self.is_own(pointer) {
            return;
        }
        let of_kind = |kind: TypeKind<'_>| match kind {
            TypeKind::Pointer { pointee: Some(_), .. } => Some(SkipReason::TypedPointer),
            TypeKind::Pointer { address_space: 0, .. } => None,
            _ => Some(SkipReason::AddressSpace),
        };
        let reason = match self.function.ty(pointer) {
            _ if self.swift_errors.contains(&pointer) => Some(SkipReason::SwiftError),
            Some(ty) => self.pass.sizes.with_kind(ty, of_kind),
            None => Some(SkipReason::Unreadable),
        };
        if let Some(reason) = reason {
            return self.skip(inst, reason);
        }
        // An atomic operation accesses the type of its value operand.
        let Some(size) = self.pass.size(inst.ty) else {
            return self.skip(inst, SkipReason::Size);
        };
        let kinds: &[Direction] = match access.opcode {
            Opcode::Load => &[Direction::Read],
            Opcode::Store => &[Direction::Write],
            _ => &[Direction::Read, Direction::Write],
        };
        let tag = self.pass.telling(access.tag);
        let pointer = self.written(pointer);
        let ty = String::from_utf8_lossy(self.pass.module.access_type(access));
        let word = inst.opcode.word();
        let text = self.function.text_of(inst);
        let [atomic, volatile] = [(access.atomic, " atomic"), (access.volatile, " volatile")]
            .map(|it| if it.0 { it.1 } else { "" });
        // The names of `atomicrmw` and `cmpxchg` already say that they are atomic.
        let atomic = if kinds.len() == 1 { atomic } else { "" };
        let mut what = shortened(format!("{word}{atomic}{volatile} {ty}, ptr {pointer}"));
        for ordering in access.atomic.then(|| orderings(text)).into_iter().flatten() {
            let _ = write!(what, " {ordering}");
        }
        self.touch(inst, tag, kinds, (&pointer, &size.store.to_string()), &what);
    }

    /// Inserts a check for each of `kinds` before an access. `pointer` is the text of an operand,
    /// and `size` is a number or an `i64`'s name. An untagged read gets no check. An untagged write
    /// clears what the runtime knows of the bytes, or is checked if a tag marks constant memory.
    pub(super) fn touch(
        &mut self,
        inst: &Inst,
        tag: Option<TagId>,
        kinds: &[Direction],
        (pointer, size): (&str, &str),
        what: &str,
    ) {
        if tag.is_none() && !self.pass.has_constants {
            if kinds.contains(&Direction::Write) {
                self.forget(inst, inst.span.start, pointer, size);
            }
            return;
        }
        let known = size.parse().unwrap_or(0);
        for &kind in kinds.iter().filter(|&&kind| tag.is_some() || kind == Direction::Write) {
            let site = self.site(inst, tag, known, kind, what.to_owned());
            let check = Check { direction: kind, size: known };
            if !check::SIZES.contains(&known) {
                let module = "ptr @__tbaa_witness.module";
                let call = format!("access(ptr {pointer}, i64 {size}, i32 {site}, {module})");
                self.before(inst, call);
                continue;
            }
            self.pass.table.checks.insert(check);
            match self.pass.form {
                Form::Calls => {
                    let row = check::row(site);
                    let call = format!(".{check}.shared(ptr {pointer}, ptr {row})");
                    self.put(inst, inst.span.start, call);
                }
                Form::Assembly => {
                    let call = assembly::call(check, pointer, site);
                    self.assembly(inst, inst.span.start, &call);
                }
            }
        }
    }

    /// Clears what the runtime knows of some bytes, for example before an untagged write.
    pub(super) fn forget(&mut self, inst: &Inst, at: usize, pointer: &str, size: &str) {
        let known = size.parse().unwrap_or(0);
        if (1..=inline::MOST_CLEARED).contains(&known) {
            self.pass.table.clears.insert(known);
            self.put(inst, at, format_args!(".clear{known}.shared(ptr {pointer})"));
        } else {
            self.put(inst, at, format_args!("_clear(ptr {pointer}, i64 {size})"));
        }
    }
}

fn orderings(text: &[u8]) -> Vec<&'static str> {
    const ALL: [&str; 6] = ["unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"];
    let words = text.split(|byte| matches!(byte, b' ' | b'\t' | b','));
    words.filter_map(|word| ALL.into_iter().find(|it| it.as_bytes() == word)).collect()
}

pub(super) fn shortened(mut text: String) -> String {
    const MOST: usize = 96;
    if let Some((at, _)) = text.char_indices().nth(MOST) {
        text.truncate(at);
        text.push_str("...");
    }
    text
}
