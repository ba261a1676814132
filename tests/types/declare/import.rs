//! Declarations from clang's record layouts, from LLVM's struct types and from specs.

use std::fmt::Write as _;
use std::process::Command;

use tbaa::declare::{Declarations, LlvmTypes, Member, MemberType, Policy, Record, Target};
use tbaa::spec::{Spec, write_declarations};
use tbaa::types::Context;
use tbaa_ir::clang::ClangRecords;
use tbaa_ir::types::ReadTypes;

use tbaa_tests::generate::{Program, Taste};
use tbaa_tests::llvm::scratch;
use tbaa_tests::{Rng, cases};

use crate::defined;

/// clang's dump of a generated program has the declared members, bit-fields included, at the
/// declared offsets.
#[test]
fn clangs_layouts_are_the_declared_ones() {
    let (mut members, mut bits) = (0, 0);
    for (name, triple) in [
        ("x86-64", "x86_64-linux-gnu"),
        ("aarch64", "aarch64-linux-gnu"),
        ("i686", "i686-linux-gnu"),
        ("windows", "x86_64-pc-windows-msvc"),
    ] {
        let taste = Taste { int128: name != "i686", elements: 4, members: 6 };
        let program = Program::new(&mut Rng(7), 200, taste);
        let file = scratch(&format!("declare/dump-{triple}.c"), program.c().as_bytes());
        let mut clang = Command::new("clang-22");
        clang.args(["-target", triple, "-fsyntax-only", "-w"]);
        clang.args(["-Xclang", "-fdump-record-layouts-complete"]);
        clang.args(["-Xclang", "-fdump-record-layouts-canonical"]);
        let Ok(output) = clang.arg(&file).output() else {
            assert!(std::env::var("TBAA_LLVM").as_deref() != Ok("require"), "no clang 22");
            eprintln!("skipped, for clang 22 is not usable");
            return;
        };
        let dump = String::from_utf8(output.stdout).unwrap();
        let target = Target::by_name(name).unwrap();
        let mut ours = program.declare(target.clone(), |_| true).unwrap();
        let mut imported = Declarations::new(target);
        imported.enumeration("Signed", "int").unwrap();
        let records = ClangRecords::parse(&dump);
        assert_eq!(records.enums().collect::<std::collections::BTreeSet<_>>().len(), 2);
        let skipped = records.declare(&mut imported);
        assert!(skipped.is_empty(), "{triple}: {skipped:?}");
        let more = program.compare(triple, [&mut ours, &mut imported], &mut Rng(7));
        (members, bits) = (members + more[0], bits + more[1]);
    }
    assert!(members > 1000 && bits > 100);
}

/// Types have the same size after a conversion to LLVM's types and back.
#[test]
fn llvm_types_come_back() {
    let taste = Taste { int128: true, elements: 4, members: 6 };
    let program = Program::new(&mut Rng(11), 200, taste);
    let types = program.declare(Target::aarch64(), |_| true).unwrap();
    let mut context = Context::new();
    let mut llvm = LlvmTypes::new(&types, &mut context);
    for record in types.records() {
        llvm.ty(record).unwrap();
    }
    // LLVM has types that C lacks.
    let more =
        b"%E = type {}\n%L = type { i8, <8 x i1>, [2 x ptr addrspace(270)], <8 x float>, %E }";
    context.read_definitions(more).unwrap();
    let mut again = Declarations::new(Target::aarch64());
    again.import_llvm(&context).unwrap();
    let offsets = ["L.f1", "L.f2", "L.f3", "L.f4"].map(|path| again.offset_of(path).unwrap());
    assert_eq!(offsets, [1, 4, 32, 64]);
    for (record, _) in program.names() {
        let sizes = [&types, &again].map(|types| types.size_of(types.named(record).unwrap()));
        assert_eq!(sizes[0], sizes[1], "{record}");
    }
}

/// Dumps with spellings that are easily misread, and odd but harmless dumps.
#[test]
fn dumps_are_read_as_written_down() {
    cases::check("types/dumps.txt", |_, parts| {
        let mut types = Declarations::new(Target::x86_64());
        let records = ClangRecords::parse(parts[0]);
        assert_eq!(records.enums().count(), 0);
        let mut said = String::new();
        for typedef in records.typedefs(&types) {
            writeln!(said, "typedef {typedef}").unwrap();
            types.enumeration(typedef, "unsigned int").unwrap();
        }
        for (name, error) in records.declare(&mut types) {
            writeln!(said, "{name} is left out: {error}").unwrap();
        }
        let ids: Vec<_> = types.records().collect();
        for (record, member) in
            ids.iter().flat_map(|&id| types.members(id).map(move |member| (id, member)))
        {
            let (record, ty) = (types.display(record), types.display(member.ty));
            let (name, size) = (member.name, types.size_of(member.ty));
            writeln!(said, "{record}.{name} at {}: {size:?} {ty}", member.offset / 8).unwrap();
        }
        said
    });
}

/// A literal struct that occurs many times in a type is declared once.
#[test]
fn doubling_literals_are_declared_once() {
    let mut text = String::from("{ i8 }");
    for _ in 0..12 {
        text = format!("{{ {text}, {text} }}");
    }
    let context = defined(&format!("%S = type {text}"));
    let mut types = Declarations::new(Target::x86_64());
    types.import_llvm(&context).unwrap();
    assert_eq!(types.size_of(types.named("S").unwrap()), Some(4096));
}

#[test]
fn a_written_spec_has_the_same_layout() {
    for name in Target::names() {
        let target = Target::by_name(name).unwrap();
        let taste = Taste { int128: target.pointer_size() == 8, elements: 4, members: 6 };
        let program = Program::new(&mut Rng(5), 200, taste);
        let mut types = program.declare(target, |_| true).unwrap();
        let records: Vec<_> = types.records().collect();
        let text = write_declarations("again", &types, &records, name, Policy::Clang);
        let built = Spec::load(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let mut again = built.tagged().unwrap().types().clone();
        program.compare(name, [&mut types, &mut again], &mut Rng(5));
    }
    // Explicit offsets, a base class and an immutable unnamed struct.
    let mut types = Declarations::cplusplus(Target::x86_64());
    types.define(Record::structure("B").field("b", "int")).unwrap();
    let inner = Member::new("in", Record::structure("").size(8).member(at("x", "int", 4)));
    let record = Record::structure("D").size(16).member(Member::base(MemberType::from("B")).at(4));
    let derived = types.define(record.member(inner.immutable().at(8))).unwrap();
    let text = write_declarations("again", &types, &[derived], "x86-64", Policy::Clang);
    let again = Spec::load(&text).unwrap().tagged().unwrap().types().clone();
    let members = [&types, &again].map(|types| {
        let record = types.named("D").unwrap();
        types.members(record).map(|member| format!("{member:?}")).collect::<Vec<_>>()
    });
    assert_eq!(members[0].len(), 2);
    let shown =
        |member: &String| member.contains("immutable: true") || member.contains("base: true");
    assert!(members[1].iter().all(shown), "{text}");
}

fn at(name: &str, ty: &str, at: u64) -> Member {
    Member::new(name, ty).at(at)
}
