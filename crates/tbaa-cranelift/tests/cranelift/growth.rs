//! Tests regions while types, tags and functions are added, and in inlined functions.

use std::borrow::Cow;

use cranelift_codegen::Context;
use cranelift_codegen::inline::{Inline, InlineCommand};
use cranelift_codegen::ir::{
    self, AbiParam, ExtFuncData, ExternalName, Function, InstBuilder, UserExternalName, types,
};
use tbaa::declare::{Declarations, Member, Record, ScalarLayout, Target};
use tbaa::{Access, AliasRule, Graph, Oracle, Session, TagId};
use tbaa_cranelift::{RegionError, Regions, check};
use tbaa_tests::Rng;
use tbaa_tests::universe::{self, Taste};

use crate::jit::{build, insts, meant, result, rules};

#[test]
fn regions_that_were_given_stay_and_stay_right() {
    let mut rng = Rng(5);
    let (mut parted, mut without) = (0, 0);
    for round in 0..60 {
        let rules = [AliasRule::Union, AliasRule::UnionStrict, AliasRule::Llvm][round % 3];
        let mut universe = universe::random(&mut rng, round % 2 == 0, Taste::Tame);
        for _ in 0..3 {
            universe::grow(&mut rng, &mut universe, Taste::Tame);
        }
        let mut graph = Graph::new();
        let nodes = universe.add_types(&mut graph);
        let mut oracle = Oracle::new(graph, rules);
        let mut regions = Regions::new(&oracle);
        let mut given: Vec<(Access, Option<u32>)> = Vec::new();
        for tag in &universe.tags {
            let tag = oracle.update(|graph| universe.add_tag(graph, &nodes, tag));
            regions.extend(&oracle, [tag]).unwrap();
            given.push((tag.into(), regions.id(tag)));
            for &(access, region) in &given {
                assert_eq!(regions.id(access), region, "round {round}");
            }
        }
        for (a, region) in &given {
            without += usize::from(region.is_none());
            for (b, other) in &given {
                if region.zip(*other).is_some_and(|(a, b)| a != b) {
                    parted += 1;
                    assert!(!oracle.may_alias(*a, *b), "round {round}");
                }
            }
        }
    }
    assert!(parted > 500 && without > 50, "{parted}, {without}");
}

#[test]
fn the_rules_are_those_of_the_first_oracle() {
    let union = Oracle::new(Graph::new(), AliasRule::Union);
    let mut regions = Regions::new(&union);
    let strict = Oracle::new(Graph::new(), AliasRule::UnionStrict);
    let error = regions.extend(&strict, [Access::default()]).unwrap_err();
    assert_eq!(
        error,
        RegionError::OtherRule { regions: AliasRule::Union, oracle: AliasRule::UnionStrict }
    );
    assert!(error.to_string().contains("union-strict"));
}

fn pair() -> (Session, [TagId; 2]) {
    let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
    session.define(Record::structure("Pair").field("a", "long").field("b", "double")).unwrap();
    let tags = ["Pair.a", "Pair.b"].map(|path| session.tag(path).unwrap());
    (session, tags)
}

/// Inlines this function at every call.
struct Body(Function);

impl Inline for Body {
    fn inline(
        &mut self,
        _: &Function,
        _: ir::Inst,
        _: ir::Opcode,
        _: ir::FuncRef,
        _: &[ir::Value],
    ) -> InlineCommand<'_> {
        InlineCommand::Inline { callee: Cow::Borrowed(&self.0), visit_callee: false }
    }
}

/// After inlining, a load without a region sees a store in a region. Before, the call was a fence.
#[test]
fn sequence_points_come_behind_inlining() {
    let (session, [field, _]) = pair();
    let mut regions = Regions::new(session.oracle());

    let (mut callee, callee_tags) = build(|emit| emit.load(types::I64, 0, None));
    regions.apply(session.oracle(), &mut callee, &callee_tags).unwrap();
    let (mut caller, tags) = build(|emit| {
        let before = emit.load(types::I64, 0, None);
        let six = emit.number(6);
        emit.store(six, 0, field);
        let func = &mut emit.builder.func;
        let call_conv = func.signature.call_conv;
        let signature = func.import_signature(ir::Signature {
            params: vec![AbiParam::new(types::I64)],
            returns: vec![AbiParam::new(types::I64)],
            call_conv,
        });
        let name = func.declare_imported_user_function(UserExternalName::new(0, 1));
        let callee = func.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: false,
            patchable: false,
        });
        let call = emit.builder.ins().call(callee, &[emit.memory]);
        let during = emit.builder.inst_results(call)[0];
        emit.builder.ins().isub(during, before)
    });
    regions.apply(session.oracle(), &mut caller, &tags).unwrap();
    assert!(rules(&session, &caller, &tags).iter().all(|rule| !rule.is_error()));

    let mut context = Context::for_function(caller);
    assert!(context.inline(Body(callee)).unwrap());
    let memory = [1; 8];
    assert_eq!(meant(&context.func, memory).0, 5);
    assert_eq!(result(&context.func, memory).0, 0, "Cranelift takes what was loaded before");
    let inserted = Regions::insert_sequence_points(session.oracle(), &mut context.func, &tags);
    assert_eq!(inserted, 1);
    assert_eq!(result(&context.func, memory), meant(&context.func, memory));
}

#[test]
fn functions_of_one_record_share_regions() {
    let (session, [a, b]) = pair();
    let mut regions = Regions::new(session.oracle());
    let ids = |func: &Function| -> Vec<(String, u32)> {
        let regions = insts(func).filter_map(|inst| {
            let region = func.dfg.insts[inst].alias_region(&func.dfg)?;
            let ty = func.dfg.ctrl_typevar(inst).to_string();
            Some((ty, func.dfg.alias_regions[region].user_id))
        });
        regions.collect()
    };
    let (mut first, tags) = build(|emit| emit.load(types::I64, 0, a));
    regions.apply(session.oracle(), &mut first, &tags).unwrap();
    let (mut second, tags) = build(|emit| {
        let number = emit.load(types::F64, 8, b);
        emit.store(number, 8, b);
        emit.load(types::I64, 0, a)
    });
    regions.apply(session.oracle(), &mut second, &tags).unwrap();
    let [first, second] = [ids(&first), ids(&second)];
    assert_eq!(first[0], second[2]);
    assert_ne!(second[0].1, second[2].1);
    assert_eq!(second[0].1, second[1].1);
}

/// Tests a linear memory, its length in a record, and two imported memories that may be one.
#[test]
fn memory_that_is_no_record() {
    let mut types = Declarations::new(Target::x86_64());
    types.region("memory 0", "char").unwrap();
    types.region("imported memories", "char").unwrap();
    types.alias("memory 1", "imported memories").unwrap();
    types.alias("memory 2", "imported memories").unwrap();
    let length = Member::new("memory 0 length", ScalarLayout { size: 8, align: 8 }).at(1304);
    types.define(Record::structure("VMContext").member(length).size(1312)).unwrap();
    let mut session = Session::with_unions(types);
    let paths = ["VMContext.memory 0 length", "*memory 0", "*memory 1", "*memory 2"];
    let tags = session.tags(&paths).unwrap();
    let (mut func, tags) = build(|emit| {
        let [length, memory, import, other] = tags[..] else { panic!() };
        let before = emit.load(types::I64, 0, length);
        emit.store(before, 9, memory);
        let byte = emit.builder.ins().ireduce(types::I8, before);
        emit.store(byte, 10, memory);
        let import_before = emit.load(types::I64, 24, other);
        emit.store(byte, 25, import);
        let import_after = emit.load(types::I64, 24, other);
        let sum = emit.load(types::I64, 0, length);
        let import = emit.builder.ins().isub(import_after, import_before);
        emit.builder.ins().iadd(sum, import)
    });
    let mut regions = Regions::new(session.oracle());
    let applied = regions.apply(session.oracle(), &mut func, &tags).unwrap();
    assert_eq!((applied.regions, applied.without_region.len(), applied.sequence_points), (3, 0, 0));
    assert_eq!(check(session.oracle(), &func, &tags), []);
    let ids = session.tags(&paths).unwrap();
    assert_eq!(regions.id(ids[2]), regions.id(ids[3]));
}

/// `Regions::at_most` limits the number of regions. Each access still has a region.
#[test]
fn regions_have_a_budget() {
    let mut session = Session::with_unions(Declarations::new(Target::x86_64()));
    let mut tags = Vec::new();
    for number in 0..100 {
        let record = Record::structure(format!("S{number}")).field("f", "int").field("g", "long");
        session.define(record).unwrap();
        tags.push(session.tag(&format!("S{number}.f")).unwrap());
    }
    for (most, count) in [(None, Regions::MOST as usize), (Some(40), 40), (Some(1000), 100)] {
        let mut regions = Regions::new(session.oracle());
        if let Some(most) = most {
            regions = regions.at_most(most);
        }
        regions.extend(session.oracle(), tags[..50].iter().copied()).unwrap();
        let before: Vec<_> = tags[..50].iter().map(|&tag| regions.id(tag)).collect();
        regions.extend(session.oracle(), tags.iter().copied()).unwrap();
        assert_eq!(regions.len(), count);
        assert!(tags.iter().all(|&tag| regions.id(tag).is_some()));
        let after = tags[..50].iter().map(|&tag| regions.id(tag));
        assert!(after.eq(before), "what was given stays");
    }
}
