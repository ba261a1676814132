//! Uses run-time checks to decide whether the tags contradict the program or LLVM is wrong.
//!
//! If a fault goes away without tags, that proves no tag wrong. Two observations prove a tag wrong:
//! a read under a tag that contradicts the tag of the write, and a write to constant memory. Reused
//! memory and a write over a write prove nothing: C allows both.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;
use tbaa_instrument::{Form, Skipped, instrument};

use crate::commands::strip;
use crate::input::Input;
use crate::output::counted;
use crate::report::{Context, Result, bail};

pub(super) enum Verdict {
    /// There is no result. The text is the reason; `None` if the search cannot add checks.
    NotChecked(Option<String>),
    /// Checks of the guilty accesses (those that the search found) observed a contradiction.
    Named(Seen),
    /// Checks of the guilty accesses observed no contradiction, but checks of all accesses did.
    Others(Seen),
    Clean(Seen),
}

#[derive(Default)]
pub(super) struct Seen {
    /// A read of what was written as another type, or a write to constant memory.
    pub(super) contradictions: Vec<Kind>,
    /// A write over what was written as another type.
    warnings: Vec<Kind>,
    /// Descriptions of what was not checked.
    left_out: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    kinds: Vec<Kind>,
    warnings: Vec<Kind>,
    forgotten_for_want_of_room: u64,
    unknown_calls: Vec<Call>,
}

#[derive(Deserialize)]
pub(super) struct Kind {
    first: Access,
    second: Access,
    help: String,
}

#[derive(Deserialize)]
struct Access {
    does: String,
    says: String,
    instruction: String,
    function: String,
    file: String,
    line: u32,
    column: u32,
}

#[derive(Deserialize)]
struct Call {
    function: String,
}

/// Writes a module with checks in place of its tags, so that LLVM optimises it as without tags.
pub(super) fn write(
    input: &Input,
    text: &[u8],
    left_out: &mut Vec<String>,
    file: &mut File,
) -> Result {
    let wrong = |error: tbaa_ir::TextError| input.wrong(&error);
    let checked = tbaa_ir::read(text).and_then(|read| instrument(&read, Form::Assembly));
    let checked = checked.map_err(wrong)?;
    if let Some(Skipped { function, reason, .. }) = checked.skipped.first() {
        let (count, file) = (counted(checked.skipped.len(), "instruction"), input.file());
        left_out.push(format!("{count} of {file}, the first in @{function}: {reason}"));
    }
    let module = tbaa_ir::read(&checked.text).map_err(wrong)?;
    strip::write(input, &module, |_| &super::ATTACHED, file)
}

impl Seen {
    /// Reads the reports that processes wrote into a folder.
    pub(super) fn read(folder: &Path, left_out: Vec<String>) -> Result<Seen> {
        let mut seen = Seen { left_out, ..Seen::default() };
        let mut files = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        files.sort_by_key(fs::DirEntry::path);
        if files.is_empty() {
            bail!("the program with checks wrote no report: it was killed, or ended by _exit",);
        }
        for file in files {
            let text = fs::read(file.path())?;
            let document: Document =
                serde_json::from_slice(&text).context("libtbaa_witness is not of this version")?;
            seen.contradictions.extend(document.kinds);
            seen.warnings.extend(document.warnings);
            if let times @ 1.. = document.forgotten_for_want_of_room {
                let accesses = counted(times, "access");
                seen.left_out.push(format!("{accesses}, for a table was full"));
            }
            if let Some(Call { function }) = document.unknown_calls.first() {
                let functions = counted(document.unknown_calls.len(), "function");
                seen.left_out.push(format!("what is written by {functions} such as {function}"));
            }
        }
        Ok(seen)
    }
}

impl Verdict {
    /// Prints the verdict. `constant` is true if a tag of a guilty access calls memory constant.
    pub(super) fn write(&self, constant: bool, out: &mut dyn Write) -> io::Result<()> {
        let not_checked =
            "not checked: the tags contradict what the program does, or LLVM is wrong.";
        match self {
            Verdict::NotChecked(None) => writeln!(
                out,
                "{not_checked} To find out, search with --recipe or --recorded, or run the program with checks \
                 (`tbaa run`, `tbaa cc`)"
            ),
            Verdict::NotChecked(Some(why)) => {
                writeln!(out, "{not_checked} The program with run-time checks told nothing: {why}")
            }
            Verdict::Named(seen) => seen.write(
                "the program breaks a promise of these tags",
                "so the program or its tags are wrong, and LLVM is not to blame",
                out,
            ),
            Verdict::Others(seen) => seen.write(
                "the program keeps this promise, and breaks that of other accesses",
                "mend that and search again: until then it is open who is wrong",
                out,
            ),
            Verdict::Clean(seen) => {
                writeln!(
                    out,
                    "checked at run time: no tag contradicts what the program does in this run"
                )?;
                let so = if seen.left_out.is_empty() { "" } else { ", unless one of these does" };
                for what in &seen.left_out {
                    writeln!(out, "  not checked: {what}")?;
                }
                if constant {
                    return writeln!(
                        out,
                        "nothing wrote the memory after it was read as constant. LLVM may read it before it is \
                         initialised: then the tag is wrong where that happens"
                    );
                }
                writeln!(
                    out,
                    "so LLVM is wrong{so}: docs/llvm.md has the kinds, and how to avoid each\n  \
                     not looked for: undefined behaviour of other kinds, which would be the program's fault \
                     (`-fsanitize=address,undefined`)"
                )?;
                if !seen.warnings.is_empty() {
                    writeln!(
                        out,
                        "  like   \"exchange\" or \"reload\" there: memory is written by one type, and then by another. C \
                         allows that; but if a variable or a union is declared there, it is open who is wrong"
                    )?;
                }
                writeln!(
                    out,
                    "  report to LLVM: the module, what it prints with and without tags, and the pass that \
                     changes it (`-mllvm -opt-bisect-limit=N`)"
                )
            }
        }
    }
}

impl Seen {
    /// Prints the first contradiction, and what follows from it.
    fn write(&self, finding: &str, so: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "checked at run time: {finding}")?;
        let kind = &self.contradictions[0];
        for access in [&kind.first, &kind.second] {
            writeln!(out, "  {:<6} {}", access.does, access.says)?;
            let place = match access.line {
                0 => String::new(),
                line => format!(", {}:{line}:{}", access.file, access.column),
            };
            writeln!(out, "         {}{place}, in @{}", access.instruction, access.function)?;
        }
        if let more @ 1.. = self.contradictions.len() - 1 {
            writeln!(out, "  and {}", counted(more, "other kind"))?;
        }
        writeln!(out, "{so}\n  help   {}", kind.help)
    }
}
