//! What instructions get, and what comes of it.

use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::llvm_sys::core::LLVMReplaceMDNodeOperandWith;
use inkwell::values::{AsValueRef, BasicValue, InstructionValue};
use tbaa::declare::{Place, Policy, TaggedTypes as Types};
use tbaa::{Access, Graph, Operand, Oracle, Rules, TagId};
use tbaa_inkwell::{AttachError, LlvmSink, ModuleTags, Tagger};
use tbaa_lower::emit::{Bisect, Plan, ScopePlan, Scopes, Sink, SinkOperand};
use tbaa_lower::{Lowering, Options};

use crate::runtime;
use crate::support::{Code, TBAA};

fn tagger(context: &Context) -> Tagger<'_> {
    Tagger::with_sink(LlvmSink::new(context), Bisect::all())
}

/// Asserts that each line is the beginning of one of the module's.
fn assert_lines(code: &Code<'_>, lines: &[&str]) {
    let text = code.text();
    for line in lines {
        assert!(text.lines().any(|other| other.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn tag_alignment_and_volatility() {
    let mut graph = Graph::new();
    let mut types = runtime::types().lower(Policy::Clang);
    let context = Context::create();
    let mut tagger = tagger(&context);
    let code = Code::new(&context, 1);
    let mut place = |path: &str| types.place(&mut graph, path).unwrap();
    let (results, number) = (place("volatile CallInfo.nresults"), place("TValue.value.n"));
    assert_eq!((results.offset, results.align), (24, 8));
    let (value, load) = code.load(code.address(code.parameter(0), results.offset), 16, "n");
    tagger.attach(&graph, &results, load).unwrap();
    let store = code.store(code.parameter(0), 64, 7);
    tagger.attach(&graph, &number, store).unwrap();
    code.end(value);
    code.verify();
    assert_lines(
        &code,
        &[
            "  %n = load volatile i16, ptr %1, align 8, !tbaa !0",
            "  store i64 7, ptr %0, align 8, !tbaa !",
            "!0 = !{!1, !",
            "!1 = !{!\"CallInfo\", !",
        ],
    );
}

#[test]
fn places_without_a_tag() {
    use tbaa::declare::{Declarations, Record, Target};
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("B").field("a", "int").bits("b", "int", 3)).unwrap();
    let mut types = types.lower(Policy::Clang);
    let mut graph = Graph::new();
    let place = types.place(&mut graph, "B.b").unwrap();
    let context = Context::create();
    let code = Code::new(&context, 1);
    let (_, load) = code.load(code.address(code.parameter(0), 4), 8, "");
    load.set_alignment(1).unwrap();
    tagger(&context).attach(&graph, &place, load).unwrap();
    assert_eq!((load.get_alignment().unwrap(), load.has_metadata()), (1, false));
}

#[test]
fn what_cannot_be_attached() {
    let (graph, _, tags) = runtime::tags(Policy::Clang);
    let (context, other) = (Context::create(), Context::create());
    let mut tagger = tagger(&context);
    let code = Code::new(&context, 1);
    let address = code.address(code.parameter(0), 4);
    let error = tagger.attach_tag(&graph, Some(tags[0]), address.as_instruction_value().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "GetElementPtr cannot have a tag: loads, stores, calls, va_arg, atomicrmw and cmpxchg can"
    );
    let foreign = Code::new(&other, 1);
    let store = foreign.store(foreign.parameter(0), 64, 7);
    assert_eq!(tagger.attach_tag(&graph, Some(tags[0]), store), Err(AttachError::OtherContext));
    assert!(!store.has_metadata());
    // A tag of another graph.
    let store = code.store(code.parameter(0), 64, 7);
    let error = tagger.attach_tag(&Graph::new(), Some(tags[0]), store).unwrap_err();
    assert_eq!(error.to_string(), "the id was issued by another graph");
}

/// What LLVM was given is what is read back.
#[test]
fn round_trips() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    for root in [b.anonymous_root(), b.empty_root(), b.root("\0R\u{e9}"), b.anonymous_root()] {
        let int = b.scalar_type("int", root.unwrap()).unwrap();
        let s = b.struct_type("S", &[(int, 0), (int, 4)]).unwrap();
        b.struct_tag(s, int, 4, false).unwrap();
        b.struct_tag(int, int, 0, true).unwrap();
    }
    // Distinct nodes with other operands than themselves, equal ones among them.
    let root = graph.insert(&[Operand::String(b"D")]).unwrap();
    let operands = [
        Operand::String(b"int"),
        Operand::Node(root),
        Operand::Int(tbaa::Int { bits: 32, value: 0 }),
    ];
    for _ in 0..2 {
        let int = graph.insert_distinct(&operands).unwrap();
        let zero = Operand::Int(tbaa::Int { bits: 32, value: 0 });
        let tag = graph.insert(&[Operand::Node(int), Operand::Node(int), zero]).unwrap();
        graph.mark_tag(tag);
    }
    round_trip(&graph);
    for policy in [Policy::Clang, Policy::ClangNew, Policy::Rfc] {
        round_trip(&runtime::tags(policy).0);
    }
}

/// Attaches every tag to a store, as it is, and reads them back.
fn round_trip(graph: &Graph) {
    let context = Context::create();
    let mut tagger = tagger(&context);
    let code = Code::new(&context, 1);
    for tag in graph.tags() {
        let node = tagger.emitter().tag_as_is(graph, tag).unwrap();
        code.store(code.parameter(0), 64, 7).set_metadata(node.as_value(), TBAA).unwrap();
    }
    let read = ModuleTags::read(&code.module).unwrap();
    // LLVM has no order of types that no tag needs.
    let mut emitter = tbaa_lower::emit::Emitter::new(Graph::new());
    let nodes: Vec<_> = graph.tags().map(|tag| emitter.tag_as_is(graph, tag).unwrap()).collect();
    let mut tagged = emitter.into_sink();
    nodes.iter().for_each(|&node| _ = tagged.mark_tag(node));
    assert_eq!(tbaa_ir::write(&read.graph), tbaa_ir::write(&tagged));
    assert_eq!(read.graph, tagged);
    assert_eq!(read.accesses.len(), graph.tag_count());
    // And what LLVM prints.
    let printed = tbaa_ir::read(code.text().as_bytes()).unwrap();
    assert_eq!(printed.graph(), &read.graph);
}

#[test]
fn cycles_are_read() {
    let context = Context::create();
    let mut sink = LlvmSink::new(&context);
    // A distinct node whose operand is replaced.
    let a = sink.node(&[SinkOperand::Bytes(b"a"), SinkOperand::Null], true).unwrap();
    let b = sink.node(&[SinkOperand::Bytes(b"b"), SinkOperand::Node(&a)], false).unwrap();
    // SAFETY: both nodes are the context's, and the operand exists.
    unsafe { LLVMReplaceMDNodeOperandWith(a.as_value().as_value_ref(), 1, b.as_raw()) };
    let code = Code::new(&context, 1);
    let store = code.store(code.parameter(0), 64, 7);
    store.set_metadata(b.as_value(), TBAA).unwrap();
    let read = ModuleTags::read(&code.module).unwrap();
    assert_eq!(read.graph.node_count(), 2);
    let tag = read.accesses[0].1;
    assert!(tbaa::wellformed::Verifier::new(&read.graph).check(tag).is_err());
    assert!(Oracle::new(&read.graph, Rules::Union).may_alias(tag, tag));
}

/// The places of a compiler whose every opcode reloads the base of the stack.
struct Opcodes {
    base: Place,
    number: Place,
    kind: Place,
}

impl Opcodes {
    fn new(types: &mut Types, graph: &mut Graph) -> Self {
        let mut place = |path| types.place(graph, path).unwrap();
        let base = place("CallInfo.l.base");
        Opcodes { base, number: place("TValue.value.n"), kind: place("TValue.tt") }
    }

    fn tags(&self) -> Vec<TagId> {
        [self.base, self.number, self.kind].iter().filter_map(|place| place.tag).collect()
    }

    /// Six opcodes that store a number each; returns the loads of the base left
    /// after `-O2`.
    fn reloads(&self, plan: Option<&impl Plan>) -> usize {
        let context = Context::create();
        let mut tagger = tagger(&context);
        let code = Code::new(&context, 1);
        let pointer = context.ptr_type(AddressSpace::default());
        let mut attach = |place: &Place, instruction| {
            if let Some(plan) = plan {
                tagger.attach(plan, place, instruction).unwrap();
            }
        };
        for register in 0..6 {
            let field = code.address(code.parameter(0), self.base.offset);
            let base = code.builder.build_load(pointer, field, "base").unwrap();
            attach(&self.base, base.as_instruction_value().unwrap());
            let base = base.into_pointer_value();
            let number = code.address(base, 16 * register + self.number.offset);
            attach(&self.number, code.store(number, 64, register));
            let kind = code.address(base, 16 * register + self.kind.offset);
            attach(&self.kind, code.store(kind, 16, 3));
        }
        code.end(context.i64_type().const_zero().into());
        code.verify();
        code.optimise();
        code.loads()
    }
}

/// The problem that this library is for: a store of a number must not make the
/// base be loaded again.
#[test]
fn base_reloads_vanish() {
    let mut graph = Graph::new();
    let mut types = runtime::types().lower(Policy::Clang);
    let clang = Opcodes::new(&mut types, &mut graph);
    assert_eq!(clang.reloads(None::<&Graph>), 6, "no tags");
    assert_eq!(clang.reloads(Some(&graph)), 6, "clang's policy: a union's member is char");

    let mut graph = Graph::new();
    let mut types = runtime::types().lower(Policy::Rfc);
    let rfc = Opcodes::new(&mut types, &mut graph);
    let (oracle, tags) = (Oracle::new(&graph, Rules::Union), rfc.tags());
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags.iter().copied()).unwrap();
    assert_eq!(rfc.reloads(Some(&lowering)), 1, "lowered");
    let scopes = Scopes::new("R", &oracle, &tags, None);
    let both = ScopePlan { tags: &lowering, alone: false, scopes: &scopes, oracle: &oracle };
    assert_eq!(rfc.reloads(Some(&both)), 1, "lowered, and scopes");
    assert_eq!(rfc.reloads(Some(&ScopePlan { alone: true, ..both })), 1, "scopes");
}

/// A call that is said to touch numbers only leaves the base alone.
#[test]
fn effects_of_calls() {
    let mut graph = Graph::new();
    let mut types = runtime::types().lower(Policy::Rfc);
    let places = Opcodes::new(&mut types, &mut graph);
    let (oracle, tags) = (Oracle::new(&graph, Rules::Union), places.tags());
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags.iter().copied()).unwrap();
    let scopes = Scopes::new("R", &oracle, &tags, None);
    let both = ScopePlan { tags: &lowering, alone: false, scopes: &scopes, oracle: &oracle };
    let loads = |attach: &dyn for<'c> Fn(&mut Tagger<'c>, InstructionValue<'c>)| {
        let context = Context::create();
        let mut tagger = tagger(&context);
        let code = Code::new(&context, 1);
        let helper =
            code.module.add_function("helper", context.void_type().fn_type(&[], false), None);
        let mut sum = context.i64_type().const_zero();
        for _ in 0..2 {
            let field = code.address(code.parameter(0), places.base.offset);
            let (value, load) = code.load(field, 64, "");
            tagger.attach(&both, &places.base, load).unwrap();
            sum = code.builder.build_int_add(sum, value.into_int_value(), "").unwrap();
            let call = code.builder.build_call(helper, &[], "").unwrap();
            let call = call.try_as_basic_value().unwrap_instruction();
            attach(&mut tagger, call);
        }
        code.end(sum.into());
        code.verify();
        code.optimise();
        code.loads()
    };
    let kind = [places.kind.tag.unwrap()];
    let two = [kind[0], places.number.tag.unwrap()];
    let base = [places.base.tag.unwrap()];
    assert_eq!(loads(&|_, _| {}), 2, "it may do anything");
    let touching = |touched: &[TagId], scopes: bool| {
        loads(&|tagger, call| {
            match scopes {
                false => tagger.attach_call(&lowering, touched, call),
                true => tagger.attach_call(&both, touched, call),
            }
            .unwrap();
        })
    };
    assert_eq!(touching(&kind, false), 1, "one tag says it");
    assert_eq!(touching(&two, false), 2, "two tags cannot");
    assert_eq!(touching(&two, true), 1, "scopes can");
    assert_eq!(touching(&base, true), 2, "it touches the base");
}

/// A copy of a struct, of which LLVM keeps the list.
#[test]
fn copies() {
    let mut graph = Graph::new();
    let mut types = runtime::types().lower(Policy::Rfc);
    let ty = types.types().named("CallInfo").unwrap();
    let copy = types.copy(&mut graph, ty).unwrap().unwrap();
    let number = types.tag(&mut graph, "TValue.value.n").unwrap();
    let oracle = Oracle::new(&graph, Rules::Union);
    let tags: Vec<_> = graph.tags().collect();
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags.iter().copied()).unwrap();
    let scopes = Scopes::new("R", &oracle, &tags, None);
    let both = ScopePlan { tags: &lowering, alone: false, scopes: &scopes, oracle: &oracle };
    assert!(!oracle.copy_may_alias(copy, Access::from(number)));

    let context = Context::create();
    let mut tagger = tagger(&context);
    let code = Code::new(&context, 2);
    let (value, load) = code.load(code.parameter(1), 64, "");
    tagger.attach_tag(&both, Some(number), load).unwrap();
    let (to, from, size) = (code.parameter(0), code.parameter(1), context.i64_type());
    let size = size.const_int(32, false);
    let call = code.builder.build_memcpy(to, 8, from, 8, size).unwrap();
    let call = call.as_instruction_value().unwrap();
    tagger.attach_copy(&both, &graph, copy, call).unwrap();
    let (again, load) = code.load(code.parameter(1), 64, "");
    tagger.attach_tag(&both, Some(number), load).unwrap();
    let sum = code.builder.build_int_add(value.into_int_value(), again.into_int_value(), "");
    code.end(sum.unwrap().into());
    code.verify();
    let read = ModuleTags::read(&code.module).unwrap();
    let entries = read.graph.copy(read.copies[0].1).unwrap();
    let places: Vec<_> = entries.iter().map(|entry| (entry.offset, entry.size)).collect();
    assert_eq!(places, [(0, 8), (8, 8), (16, 8), (24, 2)]);
    code.optimise();
    assert_eq!(code.loads(), 1, "{}", code.text());
}
