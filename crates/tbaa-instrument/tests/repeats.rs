//! Redundant checks are left out, and no others.

use tbaa_instrument::{Form, instrument};

/// Returns the numbers of read checks and of write checks in a body. `%p` and `%q` are pointers,
/// `%c` is a condition; tag 0 is an `int`'s, tag 1 a `float`'s.
fn checks(body: &str) -> (usize, usize) {
    let text = format!(
        "@table = internal constant [4 x i32] zeroinitializer\n\
         @variable = global [4 x i32] zeroinitializer\n\
         @elsewhere = external constant [4 x i32]\n\
         declare void @g(ptr)\n\
         declare i32 @pure(ptr) memory(read)\n\
         define void @f(ptr %p, ptr %q, i1 %c, i64 %n) {{\n{body}\n}}\n\
         !0 = !{{!2, !2, i64 0}}\n!1 = !{{!3, !3, i64 0}}\n\
         !2 = !{{!\"int\", !4, i64 0}}\n!3 = !{{!\"float\", !4, i64 0}}\n\
         !4 = !{{!\"char\", !5, i64 0}}\n!5 = !{{!\"root\"}}\n"
    );
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let checked = instrument(&module, Form::Calls).unwrap();
    assert_eq!(checked.skipped, []);
    let text = String::from_utf8(checked.text).unwrap();
    let (_, body) = text.split_once("define void @f(").unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let count = |word: &str| body.matches(&format!("@__tbaa_witness.{word}4")).count();
    (count("read"), count("write"))
}

const READ: &str = "load i32, ptr %p, !tbaa !0";

/// Returns the number of checks for two reads of the same bytes with `what` between them.
fn between(what: &str) -> usize {
    checks(&format!("%a = {READ}\n{what}\n%b = {READ}\nret void")).0
}

#[test]
fn a_read_that_repeats_one_is_not_checked() {
    assert_eq!(between(""), 1);
    assert_eq!(between("%x = call i32 @pure(ptr %p)"), 1);
    assert_eq!(between("%y = load i32, ptr %q, !tbaa !0"), 2);
}

#[test]
fn a_write_or_a_call_between_brings_the_check_back() {
    for (what, reads) in [
        ("store i32 0, ptr %q, !tbaa !0", 2),
        ("store i8 0, ptr %q", 2),
        ("call void @g(ptr %q)", 2),
        ("call void @llvm.memset.p0.i64(ptr %q, i8 0, i64 4, i1 false)", 2),
        ("call void @llvm.lifetime.start.p0(i64 4, ptr %q)", 2),
        ("fence seq_cst", 2),
        ("%x = load atomic i32, ptr %q acquire, align 4", 2),
        ("%x = load volatile i32, ptr %q, align 4", 2),
        ("%x = atomicrmw add ptr %q, i32 1 seq_cst", 2),
        ("call void asm sideeffect \"\", \"~{memory}\"()", 2),
    ] {
        assert_eq!(between(what), reads, "{what}");
    }
    // Another tag or another size.
    assert_eq!(between("%x = load float, ptr %p, !tbaa !1"), 2);
}

/// Returns the number of checks in a diamond: a first block with a read, two that go on to a last
/// block with a read.
fn diamond(first: &str, left: &str, right: &str, last: &str) -> usize {
    checks(&format!(
        "{first}\nbr i1 %c, label %l, label %r\nl:\n{left}\nbr label %e\nr:\n{right}\nbr label %e\n\
         e:\n{last}\nret void"
    ))
    .0
}

#[test]
fn a_read_in_a_block_that_dominates_counts() {
    let read = |name: &str| format!("%{name} = {READ}");
    let (a, b, c, d) = (&read("a"), &read("b"), &read("c"), &read("d"));
    let write = "store float 0.0, ptr %q, !tbaa !1";
    assert_eq!(diamond(a, "", "", d), 1);
    assert_eq!(diamond(a, b, c, d), 1);
    // Neither read dominates the other.
    assert_eq!(diamond("", b, c, d), 3);
    // One path has a write or a call.
    assert_eq!(diamond(a, write, "", d), 2);
    assert_eq!(diamond(a, "", "call void @g(ptr %q)", d), 2);
    assert_eq!(diamond(a, &format!("{b}\n{write}\n%e0 = {READ}"), c, d), 3);
}

/// Blocks joined by a `br` alone, blocks without a name, casts, and steps of no bytes.
#[test]
fn another_spelling_is_the_same_read() {
    assert_eq!(between("br label %next\nnext:"), 1);
    let unnamed = |between: &str| {
        let read = |name: &str| format!("%{name} = {READ}");
        checks(&format!(
            "{}\nbr i1 %c, label %1, label %2\n{between}\nbr label %2\n{}\nret void",
            read("a"),
            read("b")
        ))
        .0
    };
    assert_eq!(unnamed(""), 1);
    assert_eq!(unnamed("call void @g(ptr %q)"), 2);
    for again in ["bitcast ptr %p to ptr", "getelementptr {i32}, ptr %p, i64 0, i32 0"] {
        let text = format!("%a = {READ}\n%s = {again}\n%b = load i32, ptr %s, !tbaa !0\nret void");
        assert_eq!(checks(&text).0, 1, "{again}");
    }
}

/// A read without a check does not make another read redundant.
#[test]
fn a_read_of_another_sanitizer_does_not_count() {
    assert_eq!(checks(&format!("%a = {READ}, !nosanitize !2\n%b = {READ}\nret void")).0, 1);
}

/// Paths that store different pointers to a slot, or the same one.
#[test]
fn ways_that_meet_bring_one_pointer_or_several() {
    let met = |left: &str, right: &str| {
        checks(&format!(
            "%s = alloca ptr\n%a = {READ}\nbr i1 %c, label %l, label %r\n\
             l:\nstore ptr {left}, ptr %s\nbr label %e\nr:\nstore ptr {right}, ptr %s\n\
             br label %e\ne:\n%x = load ptr, ptr %s\n%b = load i32, ptr %x, !tbaa !0\n\
             %y = load ptr, ptr %s\n%d = load i32, ptr %y, !tbaa !0\nret void"
        ))
        .0
    };
    assert_eq!(met("%p", "%q"), 2);
    let looped = |index: &str| {
        checks(&format!(
            "%s = alloca ptr\nstore ptr %p, ptr %s\nbr label %h\nh:\n%x = load ptr, ptr %s\n\
             %a = load i32, ptr %x, !tbaa !0\n%y = getelementptr i32, ptr %x, i64 {index}\n\
             store ptr %y, ptr %s\n%z = load ptr, ptr %s\n%b = load i32, ptr %z, !tbaa !0\n\
             br i1 %c, label %h, label %e\ne:\nret void"
        ))
        .0
    };
    assert_eq!(looped("0"), 1);
    assert_eq!(looped("1"), 2);
    assert_eq!(looped("%n"), 2);
}

#[test]
fn a_write_later_in_a_loop_brings_the_check_back() {
    let looped = |start: &str, end: &str| {
        checks(&format!(
            "%a = {READ}\nbr label %h\nh:\n{start}\nbr i1 %c, label %b, label %e\n\
             b:\n{end}\nbr label %h\ne:\n%z = {READ}\nret void"
        ))
        .0
    };
    let read = format!("%x = {READ}");
    assert_eq!(looped(&read, ""), 1);
    // Once in the loop; nothing is written between the loop and the read after it.
    assert_eq!(looped(&read, "store i32 0, ptr %q, !tbaa !0"), 2);
    assert_eq!(looped("", "store i32 0, ptr %q, !tbaa !0"), 2);
}

#[test]
fn a_pointer_that_is_loaded_again_is_the_same_until_it_is_stored() {
    let slot = |left: &str| {
        let load = |n: u32| {
            format!(
                "%l{n} = load ptr, ptr %s\n%m{n} = getelementptr i32, ptr %l{n}, i64 %n\n\
                 %v{n} = load i32, ptr %m{n}, !tbaa !0"
            )
        };
        checks(&format!(
            "%s = alloca ptr\nstore ptr %p, ptr %s\n{}\nbr i1 %c, label %l, label %e\n\
             l:\n{left}\nbr label %e\ne:\n{}\nret void",
            load(1),
            load(2)
        ))
        .0
    };
    assert_eq!(slot(""), 1);
    assert_eq!(slot("store ptr %q, ptr %s"), 2);
    // A pointer that is loaded from memory.
    let memory = |between: &str| {
        let load = |n: u32| {
            format!("%l{n} = load ptr, ptr %p, !tbaa !1\n%v{n} = load i32, ptr %l{n}, !tbaa !0")
        };
        checks(&format!("{}\n{between}\n{}\nret void", load(1), load(2))).0
    };
    assert_eq!(memory(""), 1);
    assert_eq!(memory("store ptr %q, ptr %p, !tbaa !1"), 2);
}

#[test]
fn reads_of_constants_are_not_checked() {
    let read = |name: &str| {
        checks(&format!(
            "%e = getelementptr [4 x i32], ptr @{name}, i64 0, i64 %n\n\
             %a = load i32, ptr %e, !tbaa !0\n%b = load i32, ptr @{name}, !tbaa !0\nret void"
        ))
        .0
    };
    assert_eq!(read("table"), 0);
    assert_eq!(read("variable"), 2);
    // Another module may write its own constant before.
    assert_eq!(read("elsewhere"), 2);
}

#[test]
fn writes_are_all_checked() {
    let write = "store i32 0, ptr %p, !tbaa !0";
    assert_eq!(checks(&format!("{write}\n{write}\nret void")), (0, 2));
    assert_eq!(checks(&format!("%a = {READ}\n{write}\n%b = {READ}\nret void")), (2, 1));
}

/// Many blocks with several predecessors are no problem.
#[test]
fn large_functions_end() {
    let mut body = format!("%a = {READ}\nbr label %b0\n");
    for n in 0..20_000 {
        body += &format!("b{n}:\nbr i1 %c, label %b{}, label %b{}\n", n + 1, (n + 20_000) / 2 + 1);
    }
    body += &format!("b20000:\n%b = {READ}\nret void");
    assert!((1..=2).contains(&checks(&body).0));
}
