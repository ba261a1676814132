//! Writes checks as inline assembly of x86-64. A check is one instruction for LLVM, so a module
//! with checks is optimised and compiled nearly as fast as one without.
//!
//! A *cell* is the 32-bit shadow of 4 bytes of memory. Its low bits are a *class*: by which tags
//! the bytes were accessed. An access has a *row* of values that its check expects. The assembly
//! uses the cell and the row as [`inline`](super::inline) describes. If the row does not suffice,
//! the assembly calls a function with the pointer in `%r10` and the row in `%r11`. Only these
//! registers and the flags change. LLVM does not know of the call, so the function preserves vector
//! registers too. With `alignstack`, LLVM does not use the red zone below the stack pointer: a call
//! overwrites it.
//!
//! In a check, label 1 is the end, and label 2 is the call.

use super::check::row;
use super::layout::*;
use super::{Check, Direction};

/// Returns the text of inline assembly that checks an access, followed by the assembly's operands.
pub(super) fn call(check: Check, pointer: &str, site: u32) -> String {
    let keeps = check.direction == Direction::Read && check.size == 4;
    // Registers are reused: an address is not needed any more once the cell has been read.
    let registers = match (check.direction, check.size) {
        (Direction::Read, 4) => Registers { cell: "%r11", value: "%r11d", low: "" },
        (Direction::Read, 8) => Registers { cell: "%r11", value: "%r10d", low: "" },
        (Direction::Write, 4 | 8) => Registers { cell: "%r10", value: "%r11d", low: "" },
        _ => Registers { cell: "%r11", value: "%r11d", low: "%r10d" },
    };
    let mut lines = match keeps {
        true => vec!["movq $0, %r10".to_owned(), "movq %r10, %r11".to_owned()],
        false => vec![format!("movq $0, {}", registers.cell)],
    };
    begin(check, &registers, &mut lines);
    lines.push("2:".to_owned());
    if !keeps {
        lines.push("movq $0, %r10".to_owned());
    }
    lines.extend(["leaq $1, %r11", "callq ${2:P}", "1:"].map(str::to_owned));
    format!(
        "alignstack \"{}\", \"r,*m,s,~{{r10}},~{{r11}},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
         (ptr nocapture readnone {pointer}, ptr elementtype(i32) {}, \
         ptr @__tbaa_witness.{check}.{}) nounwind",
        lines.join("\\0A\\09"),
        row(site),
        rest(check),
    )
}

struct Registers {
    /// Holds the pointer, then the address of its cell less [`CELL_OFFSET`]; 64 bits wide.
    cell: &'static str,
    /// Holds the cell's value; 32 bits wide.
    value: &'static str,
    /// Holds the low bits of the pointer, for a read of 1 or 2 bytes; 32 bits wide.
    low: &'static str,
}

/// Writes a check up to label 2. Operand 1 is the row. The row's first three values are a class,
/// another value to compare with, and the value that a write of whole cells stores (0 if none).
fn begin(check: Check, &Registers { cell, value, low }: &Registers, lines: &mut Vec<String>) {
    let (class, number, always) = ("$1", "4+$1", "8+$1");
    let Check { direction, size } = check;
    let partial = size < 4;
    let mut line = |text: String| lines.push(text);
    if size > 1 {
        // An access of 8 bytes has two cells of 4 bytes each, and needs an alignment of only 4.
        line(format!("testb $${}, {cell}b", size.min(4) - 1));
        line("jne 2f".to_owned());
    }
    if partial && direction == Direction::Read {
        // `value` is the lower half of the register `cell`: save it first.
        line(format!("movl {value}, {low}"));
    }
    line(format!("btcq $${FLIP}, {cell}"));
    if partial {
        line(format!("andq $$-4, {cell}"));
    }
    let next = format!("{}({cell})", CELL_OFFSET + 4);
    let cell = format!("{CELL_OFFSET}({cell})");
    if direction == Direction::Write && !partial {
        line(format!("movl {always}, {value}"));
        line(format!("testl {value}, {value}"));
        line("je 2f".to_owned());
        line(format!("movl {value}, {cell}"));
        if size == 8 {
            line(format!("movl {value}, {next}"));
        }
        return line("jmp 1f".to_owned());
    }
    line(format!("movl {cell}, {value}"));
    if size == 8 {
        line(format!("cmpl {value}, {next}"));
        line("jne 2f".to_owned());
    }
    line(format!("notl {value}"));
    match direction {
        Direction::Read if partial => {
            line(format!("andl $${CLASS}, {value}"));
            line(format!("cmpl {class}, {value}"));
            line("je 1f".to_owned());
            line(format!("andl $$3, {low}"));
            line(format!("shll $${CLASS_BITS}, {low}"));
            line(format!("orl {low}, {value}"));
            line(format!("cmpl {number}, {value}"));
            line("je 1f".to_owned());
        }
        Direction::Read => {
            line(format!("xorl {class}, {value}"));
            line(format!("shll $${}, {value}", 32 - CLASS_BITS));
            line("je 1f".to_owned());
        }
        Direction::Write => {
            line(format!("cmpl {number}, {value}"));
            line("je 1f".to_owned());
        }
    }
}

/// Writes the function `enter` of a check, which calls the function `shared`. Where [`rest`] needs
/// it, also writes `entry`, which tests further expected values (see [`entry`]) before `enter`.
pub(super) fn functions(check: Check, out: &mut String) {
    let name = check.to_string();
    if rest(check) == "entry" {
        let lines = saving(&["%rax", "%rcx", "%r10", "%r11"], entry(check));
        function(&name, "entry", &lines, "enter", out);
    }
    enter(&name, out);
}

/// Returns which function the assembly calls. A write of whole cells seldom needs `entry`.
fn rest(Check { direction, size }: Check) -> &'static str {
    if direction == Direction::Write && size >= 4 { "enter" } else { "entry" }
}

fn enter(name: &str, out: &mut String) {
    let call = ["movq %r11, %rsi", "xchgq %rdi, %r10", "callq ${0:P}", "xchgq %rdi, %r10"];
    let call = call.map(str::to_owned);
    let lines = [&push("%rsi")[..], &call, &pop("%rsi"), &["retq".to_owned()]].concat();
    function(name, "enter", &lines, "shared", out);
}

/// The largest size, in bytes, of a stack slot whose cells are cleared without a call.
pub(super) const MOST_CLEARED: u64 = 32;

/// Returns assembly that clears the cells of a stack slot. No cell may belong to other memory too.
pub(super) fn clear_whole(size: u64, pointer: &str) -> String {
    let mut lines = vec!["movq $0, %r11".to_owned(), format!("btcq $${FLIP}, %r11")];
    let end = size.next_multiple_of(4);
    for at in (0..end).step_by(8) {
        let word = if end - at >= 8 { "q" } else { "l" };
        lines.push(format!("mov{word} $$0, {}(%r11)", CELL_OFFSET + at));
    }
    format!(
        "\"{}\", \"r,~{{r11}},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
         (ptr nocapture readnone {pointer}) nounwind",
        lines.join("\\0A\\09"),
    )
}

/// Returns assembly that tests a further expected value: see [`entry`](super::inline::entry).
fn entry(Check { direction, size }: Check) -> Vec<String> {
    let mut lines = vec!["movl %r10d, %ecx".to_owned()];
    let mut line = |text: String| lines.push(text);
    if size > 1 {
        line(format!("testb $${}, %cl", size.min(4) - 1));
        line("jne 2f".to_owned());
    }
    line(format!("btcq $${FLIP}, %r10"));
    if size < 4 {
        line("andq $$-4, %r10".to_owned());
    }
    line(format!("movl {CELL_OFFSET}(%r10), %eax"));
    if size == 8 {
        line(format!("movl {}(%r10), %r10d", CELL_OFFSET + 4));
        line("xorl %eax, %r10d".to_owned());
        line(format!("testl $${CLASS}, %r10d"));
        line("jne 2f".to_owned());
    }
    line("notl %eax".to_owned());
    match direction {
        Direction::Read => {
            line(format!("andl $${CLASS}, %eax"));
            line("leal (%rax,%rcx,2), %ecx".to_owned());
        }
        Direction::Write => {
            line(format!("shll $${}, %ecx", CLASS_BITS + 1));
            line("addl %eax, %ecx".to_owned());
            line(format!("shrl $${CLASS_BITS}, %ecx"));
        }
    }
    line(format!("andl $${}, %ecx", ENTRIES - 1));
    line("movl 12(%r11), %r11d".to_owned());
    line(format!("shlq $${}, %r11", (ENTRIES * size_of::<u64>()).ilog2()));
    line("leaq (%r11,%rcx,8), %r11".to_owned());
    line(format!("movabsq $${ENTRIES_AT}, %rcx"));
    // One load reads both halves: the value to compare with, and the value that a write stores.
    line("movq (%r11,%rcx), %r11".to_owned());
    line("cmpl %r11d, %eax".to_owned());
    if direction == Direction::Read {
        line("je 1f".to_owned());
    } else {
        line("jne 2f".to_owned());
        line("shrq $$32, %r11".to_owned());
        line("movq __tbaa_witness_threaded@GOTPCREL(%rip), %rcx".to_owned());
        line("cmpb $$0, (%rcx)".to_owned());
        line("jne 3f".to_owned());
        line(format!("movl %r11d, {CELL_OFFSET}(%r10)"));
        line("jmp 1f".to_owned());
        line("3: notl %eax".to_owned());
        line(format!("lock cmpxchgl %r11d, {CELL_OFFSET}(%r10)"));
        line("je 1f".to_owned());
    }
    lines
}

fn push(register: &str) -> [String; 2] {
    [format!("pushq {register}"), ".cfi_adjust_cfa_offset 8".to_owned()]
}

fn pop(register: &str) -> [String; 2] {
    [format!("popq {register}"), ".cfi_adjust_cfa_offset -8".to_owned()]
}

/// Saves registers around assembly. Label 1 restores them and returns. Label 2, or the end of
/// `lines`, restores them and jumps to the function's operand.
fn saving(saved: &[&str], lines: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = saved.iter().copied().flat_map(push).collect();
    all.extend(lines);
    all.push("2:".to_owned());
    all.extend(saved.iter().rev().copied().flat_map(pop));
    all.push("jmp ${0:P}".to_owned());
    // At this label the registers are still on the stack.
    all.push("1:".to_owned());
    all.push(format!(".cfi_adjust_cfa_offset {}", 8 * saved.len()));
    all.extend(saved.iter().rev().copied().flat_map(pop));
    all.push("retq".to_owned());
    all
}

/// Writes a function that consists of assembly. Its operand is another function of the check.
fn function(check: &str, name: &str, lines: &[String], operand: &str, out: &mut String) {
    *out += &format!(
        "define internal void @__tbaa_witness.{check}.{name}() naked noinline nounwind uwtable {{
  call void asm sideeffect alignstack \"{}\", \"s\"(ptr @__tbaa_witness.{check}.{operand})
  unreachable
}}
",
        lines.join("\\0A\\09"),
    );
}
