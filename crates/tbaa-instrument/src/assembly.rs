//! Checks as inline assembly of x86-64: one instruction for LLVM, so that a module with checks is
//! optimised and compiled nearly as fast as one without.
//!
//! The assembly looks at the beginning of a site's row, as [`inline`](super::inline) says, and
//! calls the function that looks at the rest. Only `%r10` and `%r11` change. `alignstack` says that
//! it needs an aligned stack, so that LLVM leaves no red zone below it, which the call would
//! overwrite: also in functions of other modules that it is inlined into.

use std::fmt::Write;

use super::access::Direction;
use super::inline::{Check, row};
use super::layout::{CELL_OFFSET, CLASS, CLASS_BITS, FLIP};

/// The call of a check. `inlined` says that its beginning is compiled in, which takes more code
/// and less time.
pub(super) fn call(check: Check, pointer: &str, site: u32, inlined: bool) -> String {
    let mut lines = vec!["movq $0, %r10".to_owned()];
    let mut function = "first";
    if inlined {
        let keeps = check.direction == Direction::Read && check.size == 4;
        // What of these is an address is not needed any more when a value is read.
        let registers = match (check.direction, check.size) {
            (Direction::Read, 4) => Registers { cell: "%r11", value: "%r11d", low: "" },
            (Direction::Read, 8) => Registers { cell: "%r11", value: "%r10d", low: "" },
            (Direction::Write, 4 | 8) => Registers { cell: "%r10", value: "%r11d", low: "" },
            _ => Registers { cell: "%r11", value: "%r11d", low: "%r10d" },
        };
        if keeps {
            lines.push(format!("movq %r10, {}", registers.cell));
        } else {
            lines[0] = format!("movq $0, {}", registers.cell);
        }
        begin(check, &registers, ["$1", "4+$1", "8+$1"], &mut lines);
        lines.push("2:".to_owned());
        if !keeps {
            lines.push("movq $0, %r10".to_owned());
        }
        function = "enter";
    }
    lines.extend(["leaq $1, %r11", "callq ${2:P}", "1:"].map(str::to_owned));
    format!(
        "asm sideeffect alignstack \"{}\", \"r,*m,s,~{{r10}},~{{r11}},~{{dirflag}},~{{fpsr}},~{{flags}}\"\
         (ptr nocapture readnone {pointer}, ptr elementtype(i32) {}, \
         ptr @__tbaa_witness.{check}.{function}) nounwind",
        lines.join("\\0A\\09"),
        row(site),
    )
}

/// What the beginning of a check changes.
struct Registers {
    /// Holds the pointer at first, and then the address of its cell; 64 bits.
    cell: &'static str,
    /// What the cell has; 32 bits.
    value: &'static str,
    /// The pointer's low bits; 32 bits.
    low: &'static str,
}

/// Writes the beginning of a check: goes to 1 if nothing is left to do, and to 2, or on, if the
/// rest of the row is to be looked at. Of the row, `class`, `number`, and what a write of whole granules
/// leaves are operands.
fn begin(
    check: Check,
    &Registers { cell, value, low }: &Registers,
    [class, number, always]: [&str; 3],
    lines: &mut Vec<String>,
) {
    let Check { direction, size } = check;
    let partial = size < 4;
    let mut line = |text: String| lines.push(text);
    if size > 1 {
        // Two cells need no more than one.
        let low = if cell == "%rax" { "%al" } else { &format!("{cell}b") };
        line(format!("testb $${}, {low}", size.min(4) - 1));
        line("jne 2f".to_owned());
    }
    if partial && direction == Direction::Read {
        // The value's register is the lower half of the cell's.
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

/// Writes what the assembly calls, with the pointer in `%r10` and the row in `%r11`: `first` does
/// what is else compiled in, and `enter` calls the function for the rest of the row.
pub(super) fn functions(check: Check, out: &mut String) {
    let text = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let push = |register| [format!("pushq {register}"), ".cfi_adjust_cfa_offset 8".to_owned()];
    let pop = |register| [format!("popq {register}"), ".cfi_adjust_cfa_offset -8".to_owned()];
    let (registers, saved): (_, &[&str]) = match (check.direction, check.size) {
        (Direction::Read, 4) | (Direction::Write, 1 | 2) => {
            (Registers { cell: "%rax", value: "%eax", low: "" }, &["%rax"])
        }
        (Direction::Read, 1 | 2) => {
            (Registers { cell: "%rax", value: "%eax", low: "%ecx" }, &["%rax", "%rcx"])
        }
        _ => (Registers { cell: "%rax", value: "%ecx", low: "" }, &["%rax", "%rcx"]),
    };
    let mut first: Vec<String> = saved.iter().copied().flat_map(push).collect();
    first.push("movq %r10, %rax".to_owned());
    begin(check, &registers, ["(%r11)", "4(%r11)", "8(%r11)"], &mut first);
    first.push("2:".to_owned());
    first.extend(saved.iter().rev().copied().flat_map(pop));
    first.push("jmp ${0:P}".to_owned());
    // Here they are still on the stack.
    first.push("1:".to_owned());
    first.push(format!(".cfi_adjust_cfa_offset {}", 8 * saved.len()));
    first.extend(saved.iter().rev().copied().flat_map(pop));
    first.push("retq".to_owned());
    let mut enter: Vec<String> = push("%rsi").into();
    enter.extend(text(&[
        "movq %r11, %rsi",
        "xchgq %rdi, %r10",
        "callq ${0:P}",
        "xchgq %rdi, %r10",
    ]));
    enter.extend(pop("%rsi"));
    enter.push("retq".to_owned());
    for (name, lines, next) in [("first", first, "enter"), ("enter", enter, "shared")] {
        let _ = write!(
            out,
            "\
define internal void @__tbaa_witness.{check}.{name}() naked noinline nounwind uwtable {{
  call void asm sideeffect alignstack \"{}\", \"s\"(ptr @__tbaa_witness.{check}.{next})
  unreachable
}}
",
            lines.join("\\0A\\09"),
        );
    }
}
