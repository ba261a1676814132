//! Declarations from clang's record layouts and from LLVM's struct types.

use std::process::Command;

use tbaa::declare::{Declarations, LlvmTypes, Target};
use tbaa::types::Context;
use tbaa_ir::clang::ClangRecords;
use tbaa_ir::types::ReadTypes;

use super::generate::{Program, Taste};
use tbaa_tests::Rng;
use tbaa_tests::llvm::scratch;

const FLAGS: [&str; 6] = [
    "-fsyntax-only",
    "-w",
    "-Xclang",
    "-fdump-record-layouts-complete",
    "-Xclang",
    "-fdump-record-layouts-canonical",
];

/// What clang dumps of a generated program has the members that were declared,
/// bit-fields included, where they were declared.
#[test]
fn clangs_layouts_are_the_declared_ones() {
    let (mut members, mut bits) = (0, 0);
    for (name, triple) in [
        ("x86-64", "x86_64-linux-gnu"),
        ("aarch64", "aarch64-linux-gnu"),
        ("i686", "i686-linux-gnu"),
        ("windows", "x86_64-pc-windows-msvc"),
    ] {
        let taste = Taste { int128: name != "i686", odd: true, elements: 4, members: 6 };
        let program = Program::new(7, 200, taste);
        let file = scratch(&format!("declare/dump-{triple}.c"), program.c().as_bytes());
        let mut clang = Command::new("clang-22");
        let Ok(output) = clang.args(["-target", triple]).args(FLAGS).arg(&file).output() else {
            assert!(std::env::var("TBAA_LLVM").as_deref() != Ok("require"), "no clang 22");
            eprintln!("skipped, for clang 22 is not usable");
            return;
        };
        let dump = String::from_utf8(output.stdout).unwrap();
        let target = Target::by_name(name).unwrap();
        let mut ours = program.declare(target.clone()).unwrap();
        let mut imported = Declarations::new(target);
        imported.enumeration("Signed", "int").unwrap();
        let records = ClangRecords::parse(&dump);
        assert_eq!(records.enums().collect::<std::collections::BTreeSet<_>>().len(), 2);
        let skipped = records.declare(&mut imported);
        assert!(skipped.is_empty(), "{triple}: {skipped:?}");
        for (record, _) in program.names() {
            let pair = [&ours, &imported].map(|types| {
                let id = types.named(record).unwrap();
                (types.size_of(id), types.align_of(id))
            });
            assert_eq!(pair[0], pair[1], "{triple}: {record}");
        }
        for access in program.accesses(&mut Rng(7)) {
            let pair = [&mut ours, &mut imported].map(|types| types.offset_of(&access.path));
            assert_eq!(pair[0], pair[1], "{triple}: {}", access.path);
            members += 1;
        }
        for (record, _) in program.names() {
            let [a, b] = [&ours, &imported].map(|types| {
                let id = types.named(record).unwrap();
                types.members(id).map(|m| (m.name, m.offset, m.bits)).collect::<Vec<_>>()
            });
            assert_eq!(a, b, "{triple}: {record}");
            bits += a.iter().filter(|member| member.2.is_some()).count();
        }
    }
    assert!(members > 1000 && bits > 100);
}

/// Through LLVM's types and back: sizes stay.
#[test]
fn llvm_types_come_back() {
    let taste = Taste { int128: true, odd: true, elements: 4, members: 6 };
    let program = Program::new(11, 200, taste);
    let types = program.declare(Target::x86_64()).unwrap();
    let mut context = Context::new();
    let mut llvm = LlvmTypes::new(&types, &mut context);
    for record in types.records() {
        llvm.ty(record).unwrap();
    }
    let mut again = Declarations::new(Target::x86_64());
    again.import_llvm(&context).unwrap();
    for (record, _) in program.names() {
        let sizes = [&types, &again].map(|types| types.size_of(types.named(record).unwrap()));
        assert_eq!(sizes[0], sizes[1], "{record}");
    }
}

#[test]
fn hostile_dumps_do_no_harm() {
    for dump in [
        "0 | struct S\n0 |   struct S s\n | [sizeof=4, align=4]",
        "0 | struct S\n0 |   struct T t\n | [sizeof=4, align=4]\n\
         0 | struct T\n0 |   struct S s\n | [sizeof=4, align=4]",
        "0 | struct S\n99999999999999999999 |   int t\n | [sizeof=4, align=4]",
        "0 | struct S\n18446744073709551615 |   int t\n | [sizeof=4, align=4]",
        "0 | struct S\n0:9-2 |   int t\n | [sizeof=4, align=0]",
        "0 | struct S\n0 |   int t\n | [sizeof=99999999999999999999, align=3]",
        "0 | struct S\n0 |   int[99999999999999999999] t\n | [sizeof=8, align=4]",
        "0 | \n0 |   \n0 |    \n | [sizeof=\n0 | struct (a at x)\n0 |   int\u{e9} \u{e9}\n | [sizeof=",
        "0 | struct (u at 1)\n0 |   struct (u at 1) x\n0 |   struct (u at 1) y\n | [sizeof=1, align=1]\n\
         0 | struct S\n0 |   struct (u at 1) x\n0 |   struct (u at 1) y\n | [sizeof=1, align=1]",
    ] {
        let mut types = Declarations::new(Target::x86_64());
        ClangRecords::parse(dump).declare(&mut types);
    }
    // Literals that double are declared once each.
    let mut text = String::from("{ i8 }");
    for _ in 0..12 {
        text = format!("{{ {text}, {text} }}");
    }
    let mut context = Context::new();
    context.read_definitions(format!("%S = type {text}").as_bytes()).unwrap();
    let mut types = Declarations::new(Target::x86_64());
    types.import_llvm(&context).unwrap();
    assert_eq!(types.size_of(types.named("S").unwrap()), Some(4096));
}

/// Spellings of clang's that are easily misread.
#[test]
fn spellings_of_a_dump() {
    let dump = "
         0 | struct V
         0 |   __attribute__((__vector_size__(4 * sizeof(float)))) float * pv
        16 |   __attribute__((__vector_size__(4 * sizeof(float)))) float v
        32 |   float __attribute__((ext_vector_type(3))) e
        48 |   float * __attribute__((ext_vector_type(3))) pe
        64 |   float[2] __attribute__((ext_vector_type(3))) ae
        96 |   Mode m
       100 |   _Atomic(short)[1] at
       104 |   enum V::(unnamed at a (b).h:3:4) u
       108 |   const enum V::(unnamed union)::(unnamed at a.h:3:4)[1] au
       112 |   enum V::(unnamed at a.h:3:4) * pu
       120 |   enum V::(unnamed at a.h:3:4) (*)(int) fu
           | [sizeof=128, align=16]
         0 | class D
         0 |   struct Empty (base) (empty)
         0 |   int x
           | [sizeof=4, align=4]";
    let mut types = Declarations::new(Target::x86_64());
    let records = ClangRecords::parse(dump);
    assert_eq!(records.typedefs(&types), ["Mode"]);
    assert_eq!(records.enums().count(), 0);
    types.enumeration("Mode", "unsigned int").unwrap();
    let skipped = records.declare(&mut types);
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert!(skipped[0].1.to_string().contains("base classes"), "{skipped:?}");
    for (path, size, ty) in [
        ("pv", 8, "<4 x float> *"),
        ("v", 16, "<4 x float>"),
        ("e", 16, "<3 x float>"),
        ("pe", 8, "<3 x float> *"),
        ("ae", 32, "<3 x float> [2]"),
        ("m", 4, "Mode"),
        ("at", 2, "short _Atomic [1]"),
        ("u", 4, "int"),
        ("au", 4, "int [1]"),
        ("pu", 8, "void *"),
        ("fu", 8, "void (*)()"),
    ] {
        let record = types.named("V").unwrap();
        let member = types.members(record).find(|member| member.name == path).unwrap();
        assert_eq!(types.size_of(member.ty), Some(size), "{path}");
        let mut same = types.clone();
        let wanted = same.ty(ty).unwrap();
        assert_eq!(types.display(member.ty), same.display(wanted), "{path}");
    }
}
