//! Explicit layouts, LLVM types, and errors.

use tbaa::Graph;
use tbaa::declare::{
    BitRange, Declarations, LlvmTypes, Member, Policy, Record, TaggedTypes, Target,
};
use tbaa::types::{Context, TypeKind, TypeSize};
use tbaa_tests::Rng;
use tbaa_tests::generate::{Program, Taste};

use crate::{defined, definitions};

fn c() -> Declarations {
    Declarations::new(Target::x86_64())
}

/// `tests/fixtures/specs/bad.txt` has layouts that are impossible, or that C rejects.
#[test]
fn explicit_layouts_are_kept() {
    let at = |name: &str, ty: &str, at| Member::new(name, ty).at(at);
    let new = || Record::structure("S").size(16);
    // Members may be in any order, and packed.
    let mut types = c();
    let record = new().packed().member(at("x", "int", 9)).member(at("y", "long", 1));
    types.define(record).unwrap();
    let bits = Record::structure("B").size(4).align(4);
    let bits = bits.member(Member::new("a", "int").bits(3).at_bit(0));
    types.define(bits.member(Member::new("b", "int").bits(9).at_bit(5))).unwrap();
    assert_eq!([types.offset_of("S.x"), types.offset_of("S.y")], [Ok(9), Ok(1)]);
    let pack = Record::structure("P").pack(2).size(6);
    let pack = types.define(pack.member(at("x", "int", 0)).member(at("y", "short", 4))).unwrap();
    assert_eq!(types.align_of(pack), 2);
    let mut graph = Graph::new();
    let mut types = types.into_tagged(Policy::Clang);
    let place = types.place(&mut graph, "S.x").unwrap();
    assert_eq!((place.offset, place.align), (9, 1));
    let node = types.types().named("S").unwrap();
    let node = types.node(&mut graph, node).unwrap().unwrap();
    let offsets: Vec<u64> = graph.ty(node).fields().map(|field| field.offset).collect();
    assert_eq!(offsets, [1, 9], "fields of a node ascend");
    let bits = types.place(&mut graph, "B.b").unwrap().bits;
    assert_eq!(bits, Some(BitRange { first: 5, width: 9 }));
}

/// In the LLVM type of a generated struct, all members but bit-fields have the declared offsets.
#[test]
fn llvm_types_have_the_declared_layout() {
    let mut structs = 0;
    for target in Target::names() {
        let target = Target::by_name(target).unwrap();
        let taste = Taste { int128: target.pointer_size() == 8, elements: 5, members: 6 };
        let program = Program::new(&mut Rng(3), 300, taste);
        let types = program.declare(target.clone(), |_| true).unwrap();
        let mut context = Context::new();
        let mut llvm = LlvmTypes::new(&types, &mut context);
        let made: Vec<_> =
            types.records().map(|record| (record, llvm.ty(record).unwrap())).collect();
        let mut layouts = target.data_layout().layouts(&context);
        for (record, ty) in made {
            let definition = context.definition(ty);
            let size = types.size_of(record).map(TypeSize::fixed);
            assert_eq!(layouts.alloc_size(ty).ok(), size, "{definition}");
            let offsets = layouts.struct_layout(ty).unwrap().offsets;
            for member in types.members(record).filter(|member| member.bits.is_none()) {
                let at = member.offset / 8;
                let found = offsets.contains(&TypeSize::fixed(at));
                assert!(found || types.is_union(record), "{definition}: {} at {at}", member.name);
                structs += 1;
            }
        }
        _ = defined(&definitions(&context));
    }
    assert!(structs > 1000);
}

#[test]
fn llvm_types_are_those_of_clang() {
    let types = tbaa_tests::declared(include_str!("../../fixtures/types/names.ron"));
    let mut context = Context::new();
    let ty = LlvmTypes::new(&types, &mut context).ty(types.named("Over").unwrap()).unwrap();
    let overlapped = context.definition(ty).to_string();
    assert_eq!(overlapped, "%struct.Over = type <{ [12 x i8] }>");
    let types = tbaa_tests::declared(include_str!("../../fixtures/types/llvm.ron"));
    let mut context = Context::new();
    let mut llvm = LlvmTypes::new(&types, &mut context);
    for name in ["S", "P"] {
        llvm.ty(types.named(name).unwrap()).unwrap();
    }
    // Clang 22 makes these types for `S` and `P` on x86-64, but in another order.
    let clang = "%union.U = type { double, [8 x i8] }\n\
                 %struct.Pair = type { i8, i32 }\n\
                 %struct.S = type { %union.U, i8, [2 x %struct.Pair], <4 x float>, \
                 { double, double }, x86_fp80, ptr }\n\
                 %struct.P = type <{ i8, i64 }>\n";
    assert_eq!(definitions(&context), clang);
}

/// Recursion in declarations is bounded, and so is the cost of hostile ones.
#[test]
fn deep_declarations_do_no_harm() {
    let mut types = c();
    types.define(Record::structure("S0").field("x", "int")).unwrap();
    for depth in 1..20_000 {
        let field = format!("S{}", depth - 1);
        types.define(Record::structure(format!("S{depth}")).field("f", field)).unwrap();
    }
    let pointer = types.ty(&format!("int {}", "*".repeat(100_000))).unwrap();
    assert_eq!(types.display(pointer).len(), 100_004);
    types.ty(&format!("int {}", "[1]".repeat(100_000))).unwrap_err();
    let last = types.named("S19999").unwrap();
    let mut context = Context::new();
    let ty = LlvmTypes::new(&types, &mut context).ty(last).unwrap();
    assert!(matches!(context.kind(ty), TypeKind::Identified { .. }));
    for policy in [Policy::Clang, Policy::Rfc] {
        let mut types: TaggedTypes = types.clone().into_tagged(policy);
        let mut graph = Graph::new();
        let path = format!("S19999{}", ".f".repeat(19_999));
        types.tag(&mut graph, &format!("{path}.x")).unwrap();
        types.copy(&mut graph, last).unwrap();
        types.tag(&mut graph, &format!("S0.x{}", "[1]".repeat(9))).unwrap_err();
    }
    let long = "a".repeat(1 << 17);
    let error = types.offset_of(&long).unwrap_err().to_string();
    assert_eq!(error, "path: longer than 65,536 bytes: name the inner record and start there");
}
