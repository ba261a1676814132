//! Spells a module in another way, with the same meaning.
//!
//! [`Spelling::of`] expects a text from [`named`]: values and blocks have names, and each label and
//! each instruction begins a line.

use std::collections::HashMap;
use std::process::Command;

use crate::Rng;
use crate::process::run_on;

/// A way to spell a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// Local values, blocks and types have numbers instead of names.
    Numbered,
    /// Written as bitcode, and printed from it.
    Bitcode,
    /// Some blocks are cut into parts. Each part but the last ends with a `br` to the next.
    Split,
    /// Some accesses use a `bitcast` of their pointer, or a `getelementptr` by 0.
    Cast,
    /// All memory is in another address space.
    AddressSpace,
}

impl Spelling {
    pub const ALL: [Spelling; 5] =
        [Self::Numbered, Self::Bitcode, Self::Split, Self::Cast, Self::AddressSpace];

    /// Spells a module in this way. Panics if LLVM rejects the result.
    pub fn of(self, text: &[u8], rng: &mut Rng) -> Vec<u8> {
        let text = String::from_utf8_lossy(text);
        match self {
            Spelling::Numbered => run("opt-22", &["-S", "-passes=strip-nondebug"], text.as_bytes()),
            Spelling::Bitcode => disassemble("22", &assemble("22", text.as_bytes())),
            Spelling::Split => verified(split(&text, rng)),
            Spelling::Cast => verified(cast(&text, rng)),
            Spelling::AddressSpace => verified(moved(&text)),
        }
    }
}

/// Gives names to the unnamed values and blocks of a module's functions.
pub fn named(text: &[u8]) -> Vec<u8> {
    run("opt-22", &["-S", "-passes=instnamer"], text)
}

/// Returns the bitcode that a version of LLVM makes from a text. Newer versions read it, too.
pub fn assemble(version: &str, text: &[u8]) -> Vec<u8> {
    run(&format!("llvm-as-{version}"), &[], text)
}

/// Returns the text that a version of LLVM prints for bitcode.
pub fn disassemble(version: &str, bitcode: &[u8]) -> Vec<u8> {
    run(&format!("llvm-dis-{version}"), &[], bitcode)
}

fn verified(text: String) -> Vec<u8> {
    assemble("22", text.as_bytes());
    text.into_bytes()
}

fn run(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program);
    run_on(command.args(arguments).args(["-o", "-", "-"]), input).unwrap()
}

fn is_instruction(line: &str) -> bool {
    line.starts_with("  ") && !line.starts_with("   ") && !line.starts_with("  ]")
}

fn label(line: &str) -> Option<&str> {
    let label = line.split(" ;").next()?.trim_end().strip_suffix(':')?;
    (!line.starts_with([' ', ';', '}'])).then_some(label)
}

/// Cuts blocks, and gives each later part a label. A `phi` names the last part of a predecessor.
fn split(text: &str, rng: &mut Rng) -> String {
    let mut out = String::new();
    let mut function: Vec<String> = Vec::new();
    // For each label, the label of the last part of its block.
    let mut ends: HashMap<String, String> = HashMap::new();
    let (mut current, mut before, mut count) = (String::new(), "", 0);
    for line in text.lines() {
        if line == "}" {
            for mut line in function.drain(..) {
                if line.contains(" = phi ") {
                    for (label, end) in &ends {
                        line = line.replace(&format!(", %{label} ]"), &format!(", %{end} ]"));
                    }
                }
                out += &(line + "\n");
            }
            ends.clear();
        }
        let is_in_function = !function.is_empty() || line.starts_with("define ");
        if !is_in_function {
            out += &format!("{line}\n");
            continue;
        }
        if let Some(label) = label(line) {
            current = label.to_owned();
        }
        let stays = |line: &str| {
            let first = [" = phi ", " = landingpad", " = catchpad", " = cleanuppad", "musttail"];
            first.iter().any(|opcode| line.contains(opcode))
        };
        let may_cut = is_instruction(line) && is_instruction(before) && !stays(line);
        if may_cut && !stays(before) && !current.is_empty() && rng.below(4) == 0 {
            let end = format!("split.{count}");
            count += 1;
            function.push(format!("  br label %{end}\n\n{end}:"));
            ends.insert(current.clone(), end);
        }
        function.push(line.to_owned());
        before = line;
    }
    out
}

/// Casts the pointers of about half of the loads and stores whose pointers are local values.
fn cast(text: &str, rng: &mut Rng) -> String {
    let mut out = String::new();
    let mut count = 0;
    for line in text.lines() {
        let is_access = line.contains(" = load ") || line.starts_with("  store ");
        let at = line.rfind(", ptr %").filter(|_| is_access && rng.below(2) == 0);
        if let Some(at) = at {
            let start = at + ", ptr ".len();
            let end = line[start..].find([',', ' ']).map_or(line.len(), |end| start + end);
            let pointer = &line[start..end];
            out += &match rng.below(2) {
                0 => format!("  %cast.{count} = bitcast ptr {pointer} to ptr\n"),
                _ => format!("  %cast.{count} = getelementptr i8, ptr {pointer}, i64 0\n"),
            };
            out += &format!("{}%cast.{count}{}\n", &line[..start], &line[end..]);
            count += 1;
        } else {
            out += line;
            out.push('\n');
        }
    }
    out
}

/// Moves globals, stack slots and functions to address space 1, and changes all pointers to match.
fn moved(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let same = ["!", ";", "attributes ", "source_filename", "target triple", "module asm"];
        // Metadata may name a function: `!{ptr @f}`.
        if same.iter().any(|start| line.starts_with(start)) && !line.contains("ptr @") {
            out += line;
        } else if let Some(layout) = line.strip_prefix("target datalayout = \"") {
            out += &format!("target datalayout = \"A1-G1-P1-{layout}");
        } else {
            out += &moved_line(line);
        }
        out.push('\n');
    }
    out
}

fn moved_line(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let is_word = |byte: char| byte.is_ascii_alphanumeric() || "._$-".contains(byte);
    while let Some(at) = rest.find(is_word) {
        let end = rest[at..].find(|rest| !is_word(rest)).map_or(rest.len(), |end| at + end);
        let (before, word) = (&rest[..at], &rest[at..end]);
        out += before;
        let is_name = before.ends_with(['%', '@', '!', '"']);
        match word {
            "ptr" if !is_name => out += "ptr addrspace(1)",
            // The names of intrinsics may contain the address space.
            _ if before.ends_with('@') && word.starts_with("llvm.") => {
                out += &word.replace(".p0", ".p1");
            }
            _ => out += word,
        }
        rest = &rest[end..];
    }
    out += rest;
    if line.starts_with('@') {
        for kind in [" global ", " constant "] {
            if let Some(at) = out.find(kind).filter(|&at| !out[..at].contains('"')) {
                out.insert_str(at, " addrspace(1)");
                break;
            }
        }
    } else if out.contains(" = alloca ") {
        let end = out.find(", !").unwrap_or(out.len());
        out.insert_str(end, ", addrspace(1)");
    }
    out
}
