//! Loads, stores and atomic accesses.

use super::check::{self, Check, Direction};
use super::outcome::SkipReason;
use super::pass::Current;
use super::{Form, assembly, inline};
use tbaa::TagId;
use tbaa_ir::{Instruction, Opcode, Statement};

/// Memory that is accessed, as the text of operands.
pub(super) struct Bytes<'a> {
    pub(super) pointer: &'a str,
    /// A number or the name of an `i64`.
    pub(super) size: &'a str,
}

impl<'t> Current<'_, 't> {
    pub(super) fn access(&mut self, statement: &Statement<'t>, access: &Instruction) {
        let module = self.pass.module;
        let text = module.text();
        if access.opcode == Opcode::VaArg || access.opcode == Opcode::Other {
            return self.skip(statement, SkipReason::Call);
        }
        let Some(span) = module.pointer_span(access) else {
            return self.skip(statement, SkipReason::Unreadable);
        };
        let pointer = &text[span.clone()];
        if self.is_own(pointer) {
            return;
        }
        let ty = text[statement.offset..span.start].trim_ascii_end();
        let reason = if self.swift_errors.contains(pointer) {
            Some(SkipReason::SwiftError)
        } else if ty.ends_with(b")") {
            Some(SkipReason::AddressSpace)
        } else if !ty.ends_with(b"ptr") {
            Some(SkipReason::TypedPointer)
        } else {
            None
        };
        if let Some(reason) = reason {
            return self.skip(statement, reason);
        }
        // What an atomic operation accesses is the type of its operand.
        let ty = module.access_type(access);
        let Some(size) = self.pass.sizes.of(ty) else {
            return self.skip(statement, SkipReason::Size);
        };
        let kinds: &[Direction] = match access.opcode {
            Opcode::Load => &[Direction::Read],
            Opcode::Store => &[Direction::Write],
            _ => &[Direction::Read, Direction::Write],
        };
        let tag = self.pass.telling(access.tag);
        let pointer = String::from_utf8_lossy(pointer);
        let ty = String::from_utf8_lossy(ty);
        let word = String::from_utf8_lossy(statement.word);
        let size_text = size.store.to_string();
        let bytes = Bytes { pointer: &pointer, size: &size_text };
        let what = shortened(format!("{word} {ty}, ptr {pointer}"));
        self.touch(statement, tag, kinds, &bytes, &what);
    }

    /// Tells the runtime of an access; one that has no tag, or one that may
    /// alias everything, clears what it writes.
    pub(super) fn touch(
        &mut self,
        statement: &Statement<'_>,
        tag: Option<TagId>,
        kinds: &[Direction],
        &Bytes { pointer, size }: &Bytes<'_>,
        what: &str,
    ) {
        let Some(tag) = tag else {
            if kinds.contains(&Direction::Write) {
                self.forget(statement, statement.offset, pointer, size);
            }
            return;
        };
        let known = size.parse().unwrap_or(0);
        for &kind in kinds {
            let site = self.site(statement, tag, known, kind, what.to_owned());
            let check = Check { direction: kind, size: known };
            if !check::SIZES.contains(&known) {
                let module = "ptr @__tbaa_witness.module";
                let call = format!("access(ptr {pointer}, i64 {size}, i32 {site}, {module})");
                self.before(statement, call);
                continue;
            }
            self.pass.table.checks.insert(check);
            match self.pass.form {
                Form::Calls => {
                    let row = check::row(site);
                    let call = format!(".{check}.shared(ptr {pointer}, ptr {row})");
                    self.put(statement, statement.offset, call);
                }
                Form::Assembly => {
                    let call = assembly::call(check, pointer, site);
                    self.assembly(statement, statement.offset, &call);
                }
            }
        }
    }
}

impl Current<'_, '_> {
    /// Forgets at a place what is known of some bytes, such as before a write without a tag.
    pub(super) fn forget(
        &mut self,
        statement: &Statement<'_>,
        at: usize,
        pointer: &str,
        size: &str,
    ) {
        let known = size.parse().unwrap_or(0);
        if (1..=inline::MOST_CLEARED).contains(&known) {
            self.pass.table.clears.insert(known);
            self.put(statement, at, format_args!(".clear{known}.shared(ptr {pointer})"));
        } else {
            self.put(statement, at, format_args!("_clear(ptr {pointer}, i64 {size})"));
        }
    }
}

/// What a report can show on a line.
pub(super) fn shortened(mut text: String) -> String {
    const MOST: usize = 96;
    if let Some((at, _)) = text.char_indices().nth(MOST) {
        text.truncate(at);
        text.push_str("...");
    }
    text
}
