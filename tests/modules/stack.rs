//! Deeply nested inputs need a stack of at most 256 KiB.

use std::fmt::Write;

use tbaa::declare::{Declarations, Policy, Target};

const DEEP: usize = 20_000;

pub(crate) fn on_a_small_stack(body: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(body).unwrap();
    thread.join().unwrap();
}

fn deep_module() -> String {
    let mut source = String::from(
        "define void @f(ptr %p) {\n  store i32 1, ptr %p, !tbaa !3\n  store i32 1, ptr %p, !tbaa !4\n  \
         store i32 1, ptr %p, !tbaa !5\n  store i32 1, ptr %p, !tbaa !6\n  ret void\n}\n\
         !0 = !{!\"R\"}\n!1 = !{!\"int\", !0, i64 0}\n",
    );
    let (mut outer, mut lower) = (1, 1);
    for at in 0..DEEP {
        let (of_struct, of_scalar, of_cycle) = (10 + at, 10 + DEEP + at, 10 + 2 * DEEP + at);
        let _ = writeln!(
            source,
            "!{of_struct} = !{{!\"S{at}\", !{outer}, i64 0, !1, i64 {}}}",
            4 * at + 4
        );
        let _ = writeln!(source, "!{of_scalar} = !{{!\"s{at}\", !{lower}, i64 0}}");
        let next = 10 + 2 * DEEP + (at + 1) % DEEP;
        let _ = writeln!(source, "!{of_cycle} = !{{!\"c{at}\", !{next}, i64 0}}");
        (outer, lower) = (of_struct, of_scalar);
    }
    let _ = writeln!(source, "!3 = !{{!{outer}, !1, i64 0}}\n!4 = !{{!{outer}, !1, i64 4}}");
    let _ = writeln!(source, "!5 = !{{!{lower}, !{lower}, i64 0}}");
    source + &format!("!6 = !{{!{}, !1, i64 0}}\n", 10 + 2 * DEEP)
}

#[test]
fn deep_graphs() {
    on_a_small_stack(|| tbaa_tests::fuzz::text(deep_module().as_bytes()));
}

#[test]
fn deep_texts() {
    on_a_small_stack(|| {
        for nested in ["!{", "!tbaa !{", "(", "[", "{", "metadata !{"] {
            let source = format!("!0 = !{{{}", nested.repeat(DEEP));
            let _ = tbaa_ir::read(source.as_bytes());
            let body = format!("define void @f() {{\n  {}\n}}\n", nested.repeat(DEEP));
            let _ = tbaa_ir::read(body.as_bytes());
        }
        let mut types = Declarations::new(Target::x86_64());
        for text in [
            format!("int {}", "*".repeat(DEEP)),
            format!("int {}", "[1]".repeat(DEEP)),
            format!("int {}x{}", "(".repeat(DEEP), ")".repeat(DEEP)),
            format!("int {}", "(*".repeat(DEEP)),
            "*".repeat(DEEP) + "int",
            format!("T{}", ".a".repeat(DEEP)),
        ] {
            let _ = (types.ty(&text), types.offset_of(&text));
            let _ = types.clone().into_tagged(Policy::Clang).tag(&mut tbaa::Graph::new(), &text);
        }
    });
}

#[test]
fn deep_specs() {
    on_a_small_stack(|| {
        for nested in ["(", "[", "Spec(", "Some(", "{", "\"a\": ["] {
            assert!(tbaa::spec::Spec::load(&nested.repeat(DEEP)).is_err());
            let inside = format!("Spec(name: \"x\", types: [{}", nested.repeat(DEEP));
            assert!(tbaa::spec::Spec::load(&inside).is_err());
        }
    });
}
