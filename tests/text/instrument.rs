//! Tests the checks that instrumentation puts into a module's text.

use std::fmt::Write as _;

use tbaa_instrument::{Form, instrument};
use tbaa_ir::{Instruction, Opcode};
use tbaa_tests::cases;

const TAGS: &str = r#"
!0 = !{!1, !1, i64 0}
!1 = !{!"int", !2, i64 0}
!2 = !{!"char", !3, i64 0}
!3 = !{!"Simple C/C++ TBAA"}
!4 = !{!2, !2, i64 0}
"#;

/// Returns the instrumented functions, the number of *sites* (accesses that are checked) and the
/// list of skipped accesses, as text; or the error.
fn checked(body: &str, form: Form) -> String {
    let text = format!("{body}{TAGS}");
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let found = match instrument(&module, form) {
        Ok(found) => found,
        Err(error) => return format!("refused: {error}"),
    };
    // The text can be read, and has as many accesses as before. It cannot be instrumented again.
    let again = tbaa_ir::read(&found.text).unwrap();
    let own = |instruction: &&Instruction| {
        (instruction.function as usize) < module.functions().len()
            && instruction.opcode.accesses_memory()
    };
    let other =
        |instruction: &&Instruction| matches!(instruction.opcode, Opcode::Call | Opcode::Other);
    let before = module.instructions().iter().filter(|instruction| !other(instruction));
    assert_eq!(again.instructions().iter().filter(own).count(), before.count());
    let twice = instrument(&again, form).unwrap_err().to_string();
    assert!(twice.contains("has been instrumented before"), "{twice}");
    let text = String::from_utf8(found.text).unwrap();
    let mut out = text[..text.find("\n!0 = ").unwrap() + 1].to_owned();
    writeln!(out, "{} sites", found.sites).unwrap();
    for skipped in found.skipped {
        writeln!(out, "not checked: {:?} in @{}", skipped.reason, skipped.function).unwrap();
    }
    out
}

#[test]
fn checks_are_as_written_down() {
    cases::check("text/instrument.txt", |name, parts| {
        let form = if name.ends_with("as assembly") { Form::Assembly } else { Form::Calls };
        checked(parts[0], form)
    });
}

/// Returns the number of checks of reads, and of writes, that a body gets.
fn checks(body: &str) -> [usize; 2] {
    let text = include_str!("../fixtures/text/repeats.ll").replace("BODY", body);
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let checked = instrument(&module, Form::Calls).unwrap();
    assert_eq!(checked.skipped, []);
    let text = String::from_utf8(checked.text).unwrap();
    let (_, body) = text.split_once("define void @f(").unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    ["read4", "write4"].map(|check| body.matches(&format!("@__tbaa_witness.{check}")).count())
}

/// Instrumentation leaves out a check that repeats an earlier one.
#[test]
fn repeated_reads_are_checked_as_written_down() {
    cases::check("text/repeats.txt", |_, parts| {
        let [reads, writes] = checks(parts[0]);
        format!("{reads} reads, {writes} writes")
    });
    // The time stays short for many blocks with exponentially many paths.
    let read = "load i32, ptr %p, !tbaa !0";
    let mut body = format!("%a = {read}\nbr label %b0\n");
    for n in 0..20_000 {
        body += &format!("b{n}:\nbr i1 %c, label %b{}, label %b{}\n", n + 1, (n + 20_000) / 2 + 1);
    }
    body += &format!("b20000:\n%b = {read}\nret void");
    assert!((1..=2).contains(&checks(&body)[0]));
}

#[test]
fn arguments_that_another_bracket_closes_are_refused() {
    let text = "define void @f() {\n  %s = alloca i32\n  call void @g(ptr %s]\n  ret void\n}\n";
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let sizes = tbaa_ir::Sizes::new(&module);
    let function = module.function(&sizes, 0);
    assert!(function.call(&function.instructions[1]).is_none());
    // The call is still a user of stack slot `%s`, and may do anything with the slot.
    assert_eq!(function.operands(&function.instructions[1]), []);
    assert_eq!(function.users(function.instructions[0].result.unwrap()), [1]);
}
