//! Tests of the metadata on instructions, and of LLVM's answers for it. A *place* is memory that a
//! path such as `S.x` names.

use inkwell::context::Context;
use inkwell::llvm_sys::core::{LLVMReplaceMDNodeOperandWith, LLVMSetMetadata};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, BasicValue};
use inkwell::{AddressSpace, AtomicOrdering};
use tbaa::declare::{Declarations, Member, Policy, Record, ScalarLayout, Target};
use tbaa::raw::RawGraph;
use tbaa::{AliasRule, Graph, Operand, Oracle};
use tbaa_inkwell::{AttachError, LlvmSink, ModuleTags, Tagger};
use tbaa_lower::emit::{
    Emitter, Jit, JitOptions, Sink, SinkOperand, Storage, TagForm, TaggedPlace,
};

use crate::regions::loads;
use crate::runtime;
use crate::support::{Code, TBAA, attach_planned, machine, places};

/// Asserts that each of `lines` is the beginning of a line of the module's text.
fn assert_lines(code: &Code<'_>, lines: &[&str]) {
    let text = code.text();
    for line in lines {
        assert!(text.lines().any(|other| other.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn tag_alignment_and_volatility() {
    let mut jit = with(TagForm::Clang);
    let context = Context::create();
    let code = Code::new(&context, 1);
    let [results, number] = places(&mut jit, ["volatile CallInfo.nresults", "TValue.value.n"]);
    assert_eq!((results.place().offset, results.place().align), (24, 8));
    let (value, load) = code.load(code.address(code.parameter(0), results.place().offset), 16, "n");
    code.attach(&results, load);
    code.attach(&number, code.store(code.parameter(0), 64, 7));
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

/// A compiler that owns both its context and a tagger for it.
struct Translator {
    context: Context,
    tagger: Tagger,
    place: TaggedPlace,
}

impl Translator {
    fn translate(&self) -> Result<(), AttachError> {
        let code = Code::new(&self.context, 1);
        self.tagger.attach(&self.place, code.store(code.parameter(0), 64, 7))
    }
}

#[test]
fn a_tagger_lives_beside_its_context() {
    let place = Jit::new(runtime::types()).place("TValue.value.n").unwrap();
    let context = Context::create();
    let tagger = Tagger::new(&context).unwrap();
    let translator = Translator { context, tagger, place };
    translator.translate().unwrap();
    let mut translator = std::thread::spawn(move || {
        translator.translate().unwrap();
        translator
    })
    .join()
    .unwrap();
    // Other contexts are rejected, even at the address of the dropped one.
    for _ in 0..8 {
        translator.context = Context::create();
        assert_eq!(translator.translate(), Err(AttachError::OtherContext));
    }
    assert!(matches!(
        translator.tagger.emit(&translator.context, |_| ()),
        Err(AttachError::OtherContext)
    ));
    translator.tagger = Tagger::new(&translator.context).unwrap();
    translator.translate().unwrap();
    // The tagger rejects an emitter of another context that replaced the lent one.
    let other = Context::create();
    let emitter = Emitter::new(LlvmSink::new(&other));
    let swapped = translator.tagger.emit(&translator.context, |lent| *lent = emitter);
    assert_eq!(swapped, Ok(()));
    drop(other);
    let lent = translator.tagger.emit(&translator.context, |_| ());
    assert_eq!(lent, Err(AttachError::OtherContext));
}

#[test]
fn places_name_their_tags() {
    let mut types = Declarations::new(Target::x86_64());
    let length = Member::new("memory 0 length", "long").at(1304);
    types.define(Record::structure("VMContext").member(length).size(1312)).unwrap();
    for form in [TagForm::Lowered, TagForm::LoweredScopes] {
        let mut jit = Jit::with_options(types.clone(), JitOptions::new().form(form)).unwrap();
        let context = Context::create();
        let code = Code::new(&context, 1);
        let [_, length] = places(&mut jit, ["*double", " volatile VMContext.memory 0 length"]);
        code.attach(&length, code.load(code.parameter(0), 64, "").1);
        let text = code.text();
        assert!(text.contains(" VMContext.memory 0 length\""), "{text}");
        assert!(!text.contains("VMContext+"), "{text}");
    }
}

#[test]
fn regions_of_a_runtime() {
    assert_eq!(crate::regions::run().unwrap(), [16, 7]);
}

/// An access keeps its alignment if it is atomic, or if its place has no known alignment.
#[test]
fn alignment_that_is_not_known() {
    let mut types = runtime::types();
    types.scalar("memory", ScalarLayout { size: 1, align: 1 }, "char").unwrap();
    let packed = Record::structure("P").field("c", "char").field("n", "long").packed();
    types.define(packed).unwrap();
    let (seq_cst, plain) = (AtomicOrdering::SequentiallyConsistent, AtomicOrdering::NotAtomic);
    // For each path: the alignment and ordering before, and the alignment after.
    for (path, before, ordering, after) in [
        ("*memory", 8, seq_cst, 8),
        ("*memory", 8, plain, 8),
        ("*memory", 2, plain, 2),
        ("*long", 2, plain, 8),
        ("*long", 16, seq_cst, 16),
        ("P.n", 8, plain, 1),
        ("P.n", 8, seq_cst, 8),
        ("*char", 8, plain, 1),
    ] {
        let place = Jit::new(types.clone()).place(path).unwrap();
        let context = Context::create();
        let code = Code::new(&context, 1);
        let (_, load) = code.load(code.parameter(0), 64, "");
        for instruction in [load, code.store(code.parameter(0), 64, 7)] {
            instruction.set_alignment(before).unwrap();
            if ordering != plain {
                instruction.set_atomic_ordering(ordering).unwrap();
            }
            code.attach(&place, instruction);
            assert!(instruction.has_metadata());
            assert_eq!(instruction.get_alignment().unwrap(), after, "{path} {ordering:?}");
        }
    }
}

/// At a run of elements, an accessed value must fit into an element, unless elements have 1 byte.
#[test]
fn elements_of_runs() {
    let mut types = runtime::types();
    let list = Record::structure("List").field("first", "List *").field("n", "int");
    types.define(list.field("text", "char [16]")).unwrap();
    types.scalar("memory", ScalarLayout { size: 1, align: 1 }, "char").unwrap();
    let context = Context::create();
    let (i32, pointer) = (context.i32_type(), context.ptr_type(AddressSpace::default()));
    let double: BasicTypeEnum<'_> = context.f64_type().into();
    let two = context.struct_type(&[i32.into(), i32.vec_type(3).into()], false);
    let wider = "which has 4: LLVM does not look at sizes";
    let element = "an access of one value of 8 bytes at `*int`, whose elements have 4:";
    for (path, ty, error) in [
        ("List.n", pointer.into(), wider),
        ("List.n", double, wider),
        ("List.n", i32.vec_type(2).into(), wider),
        ("*int", pointer.into(), element),
        ("*int", double, element),
        ("*int", context.i64_type().into(), element),
        ("*int", i32.vec_type(2).into(), ""),
        ("*int", i32.array_type(4).into(), ""),
        ("*int", two.into(), ""),
        ("*memory", pointer.into(), ""),
        ("List.text[*]", double, ""),
        ("*int *", pointer.into(), ""),
    ] {
        let place = Jit::new(types.clone()).place(path).unwrap();
        let code = Code::new(&context, 1);
        let load = code.builder.build_load(ty, code.parameter(0), "").unwrap();
        let store = code.builder.build_store(code.parameter(0), load).unwrap();
        for instruction in [load.as_instruction_value().unwrap(), store] {
            match code.tagger.attach(&place, instruction) {
                Ok(()) => assert_eq!(error, "", "{path}: {ty}"),
                Err(found) => {
                    let found = found.to_string();
                    assert!(!error.is_empty() && found.contains(error), "{path}: {ty}: {found}");
                }
            }
        }
    }
}

#[test]
fn bit_fields_have_the_tag_of_their_unit() {
    let mut types = Declarations::new(Target::x86_64());
    types
        .define(Record::structure("B").field("a", "int").bits("b", "int", 3).field("c", "char"))
        .unwrap();
    let context = Context::create();
    let code = Code::new(&context, 1);
    let place = Jit::new(types.clone()).place("B.b").unwrap();
    let unit = code.address(code.parameter(0), 4);
    let (_, load) = code.load(unit, 8, "");
    load.set_alignment(1).unwrap();
    code.attach(&place, load);
    assert_eq!((load.get_alignment().unwrap(), load.has_metadata()), (1, true));
    // A wider load would reach the next member.
    let (_, load) = code.load(unit, 32, "");
    let error = code.tagger.attach(&place, load).unwrap_err().to_string();
    assert!(error.starts_with("an access of 4 bytes at `B.b`, which has 1:"), "{error}");
    assert!(!load.has_metadata());
    // clang gives bit-fields no tag, so requesting one is an error.
    let options = JitOptions::new().form(TagForm::Clang);
    let mut clang = Jit::with_options(types, options).unwrap();
    let error = clang.place("B.b").unwrap_err().to_string();
    assert!(error.starts_with("no tag for \"B.b\": clang gives bit-fields none"), "{error}");
}

#[test]
fn what_cannot_be_attached() {
    let place = Jit::new(runtime::types()).place("TValue.value.n").unwrap();
    let (context, other) = (Context::create(), Context::create());
    let code = Code::new(&context, 1);
    let address = code.address(code.parameter(0), 4);
    let error = code.tagger.attach(&place, address.as_instruction_value().unwrap());
    assert_eq!(
        error.unwrap_err().to_string(),
        "GetElementPtr cannot have a tag: loads, stores, calls, va_arg, atomicrmw and cmpxchg can"
    );
    let foreign = Code::new(&other, 1);
    let store = foreign.store(foreign.parameter(0), 64, 7);
    assert_eq!(code.tagger.attach(&place, store), Err(AttachError::OtherContext));
    assert!(!store.has_metadata());
    // Another graph issued the tag.
    let store = code.store(code.parameter(0), 64, 7);
    let error = attach_planned(&code.tagger, &Graph::new(), place.place().tag.unwrap(), store);
    assert_eq!(error.unwrap_err().to_string(), "the id was issued by another graph");
}

#[test]
fn round_trips() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    for root in [b.anonymous_root(), b.empty_root(), b.root("\0R\u{e9}"), b.anonymous_root()] {
        let int = b.scalar_type("int", root.unwrap()).unwrap();
        let s = b.struct_type("S", &[(int, 0), (int, 4)]).unwrap();
        b.struct_tag(s, int, 4).unwrap();
        b.immutable_struct_tag(int, int, 0).unwrap();
    }
    // Two equal distinct nodes, whose first operand is not the node itself.
    let root = graph.insert(&[Operand::String(b"D")]).unwrap();
    let zero = Operand::Int(tbaa::Int { bits: 32, value: 0 });
    for _ in 0..2 {
        let operands = [Operand::String(b"int"), Operand::Node(root), zero];
        let int = graph.insert_distinct(&operands).unwrap();
        let tag = graph.insert(&[Operand::Node(int), Operand::Node(int), zero]).unwrap();
        graph.mark_tag(tag);
    }
    round_trip(&graph);
    for policy in [Policy::Clang, Policy::Rfc] {
        round_trip(&runtime::tags(policy).0);
    }
}

/// Attaches every tag, unchanged, to a store, and checks that the tags read back are equal.
fn round_trip(graph: &Graph) {
    let context = Context::create();
    let code = Code::new(&context, 1);
    for tag in graph.tags() {
        let node = code.tagger.emit(&context, |emitter| emitter.node(graph, graph.tag_node(tag)));
        let node = node.unwrap().unwrap();
        code.store(code.parameter(0), 64, 7).set_metadata(node.as_value(), TBAA).unwrap();
    }
    let read = ModuleTags::read(&code.module).unwrap();
    // The module has only the nodes that tags need, in the tags' order: build the same graph.
    let mut emitter = Emitter::new(Graph::new());
    let nodes: Vec<_> =
        graph.tags().map(|tag| emitter.node(graph, graph.tag_node(tag)).unwrap()).collect();
    let mut tagged = emitter.into_sink();
    nodes.iter().for_each(|&node| _ = tagged.mark_tag(node));
    assert_eq!(tbaa_ir::write(&read.graph), tbaa_ir::write(&tagged));
    assert_eq!(read.graph, tagged);
    assert_eq!(read.accesses.len(), graph.tag_count());
    // LLVM's printed text has the same nodes.
    let printed = tbaa_ir::read(code.text().into_bytes()).unwrap();
    assert_eq!(printed.graph(), &read.graph);
}

#[test]
fn cycles_are_read() {
    let context = Context::create();
    let mut sink = LlvmSink::new(&context);
    // A cycle: `a` is distinct. Its second operand is replaced by `b`, which refers to `a`.
    let a = sink.node(&[SinkOperand::Bytes(b"a"), SinkOperand::Null], Storage::Distinct).unwrap();
    let b =
        sink.node(&[SinkOperand::Bytes(b"b"), SinkOperand::Node(&a)], Storage::Uniqued).unwrap();
    // SAFETY: both nodes are the context's, and the operand exists.
    unsafe { LLVMReplaceMDNodeOperandWith(a.as_value().as_value_ref(), 1, b.as_raw()) };
    let code = Code::new(&context, 1);
    let store = code.store(code.parameter(0), 64, 7);
    store.set_metadata(b.as_value(), TBAA).unwrap();
    let read = ModuleTags::read(&code.module).unwrap();
    assert_eq!(read.graph.node_count(), 2);
    let tag = read.accesses[0].id;
    assert!(tbaa::wellformed::Verifier::new(&read.graph).check(tag).is_err());
    assert!(Oracle::new(&read.graph, AliasRule::Union).may_alias(tag, tag));
}

/// Returns the number of loads after `-O2` of a program with six operations. Each loads the base
/// pointer `CallInfo.l.base`, and stores a number and its kind through this pointer.
fn reloads(jit: Option<Jit>) -> usize {
    let context = Context::create();
    let code = opcodes(&context, jit);
    code.optimise();
    code.loads()
}

/// The paths of the base pointer (loaded by each operation) and of the two stored values.
const PATHS: [&str; 3] = ["CallInfo.l.base", "TValue.value.n", "TValue.tt"];

fn opcodes(context: &Context, mut jit: Option<Jit>) -> Code<'_> {
    let mut layout = Jit::new(runtime::types());
    let tagged = jit.is_some();
    let [base, number, kind] = &places(jit.as_mut().unwrap_or(&mut layout), PATHS);
    let code = Code::new(context, 1);
    let pointer = context.ptr_type(AddressSpace::default());
    let attach = |place: &TaggedPlace, instruction| {
        if tagged {
            code.attach(place, instruction);
        }
    };
    for register in 0..6 {
        let field = code.address(code.parameter(0), base.place().offset);
        let load = code.builder.build_load(pointer, field, "base").unwrap();
        attach(base, load.as_instruction_value().unwrap());
        let load = load.into_pointer_value();
        let at = code.address(load, 16 * register + number.place().offset);
        attach(number, code.store(at, 64, register));
        let at = code.address(load, 16 * register + kind.place().offset);
        attach(kind, code.store(at, 16, 3));
    }
    code.end(context.i64_type().const_zero().into());
    code.verify();
    code
}

fn with(form: TagForm) -> Jit {
    let options = JitOptions::new().lineage("L").form(form);
    Jit::with_options(runtime::types(), options).unwrap()
}

/// This library's purpose: after a store of a number, LLVM must not load the base pointer again.
#[test]
fn base_reloads_vanish() {
    assert_eq!(reloads(None), 6, "no tags");
    for (form, left) in [
        // clang tags a union's member as `char`, which may alias everything.
        (TagForm::Clang, 6),
        (TagForm::Lowered, 1),
        (TagForm::LoweredScopes, 1),
        (TagForm::Scopes, 1),
    ] {
        assert_eq!(reloads(Some(with(form))), left, "{form:?}");
    }
}

/// A *class* is a set of accesses that may alias the same accesses. With the form `Classes`, each
/// access has the scope of its class, and no `!noalias`. `!tbaa.relations` has one operand for each
/// class. Only the pass plugin that `tbaa_inkwell::run_passes` adds to LLVM reads these operands.
#[test]
fn classes_are_in_the_module() {
    let context = Context::create();
    let code = opcodes(&context, Some(with(TagForm::Classes)));
    let rows = code.module.get_global_metadata("tbaa.relations");
    assert_eq!(rows.len(), 3, "{}", code.text());
    assert!(code.text().contains(r#"= !{!"tbaa:L:0:2", !"#), "{}", code.text());
    assert!(!code.text().contains("!noalias"));
    // Remove the tags: now only the pass plugin can separate the accesses.
    for function in code.module.get_functions() {
        for block in function.get_basic_block_iter() {
            for instruction in block.get_instructions() {
                // SAFETY: the instruction is alive; a null node removes the kind.
                unsafe { LLVMSetMetadata(instruction.as_value_ref(), TBAA, std::ptr::null_mut()) };
            }
        }
    }
    let other = code.module.clone();
    code.optimise();
    assert_eq!(code.loads(), 6, "LLVM alone");
    tbaa_inkwell::run_passes(&other, "default<O2>", &machine()).unwrap();
    assert_eq!(loads(&other), 1, "with the plugin");
}

/// LLVM keeps a loaded base pointer across a call if metadata says that the call does not write it.
#[test]
fn effects_of_calls() {
    let loads = |form: TagForm, touched: &[&str]| {
        let mut jit = with(form);
        let [base, ..] = places(&mut jit, PATHS);
        let call_of = (!touched.is_empty()).then(|| jit.call(touched).unwrap());
        let context = Context::create();
        let code = Code::new(&context, 1);
        let helper =
            code.module.add_function("helper", context.void_type().fn_type(&[], false), None);
        let mut sum = context.i64_type().const_zero();
        for _ in 0..2 {
            sum = code.builder.build_int_add(sum, code.load_at(&base), "").unwrap();
            let call = code.builder.build_call(helper, &[], "").unwrap();
            let call = call.try_as_basic_value().unwrap_instruction();
            if let Some(touched) = &call_of {
                code.tagger.attach_call(touched, call).unwrap();
            }
        }
        code.end(sum.into());
        code.verify();
        code.optimise_asked();
        code.loads()
    };
    let (plain, all, classes) = (TagForm::Lowered, TagForm::LoweredScopes, TagForm::Classes);
    let [base, number, kind] = PATHS;
    for (form, touched, left, why) in [
        (classes, &[][..], 2, "it may do anything"),
        (classes, &[kind, number], 1, "classes can"),
        (classes, &[kind, base], 2, "it touches the base"),
        (all, &[], 2, "it may do anything"),
        (plain, &[kind], 1, "one tag says it"),
        (plain, &[kind, number], 2, "two tags cannot"),
        (all, &[kind, number], 1, "scopes can"),
        (all, &[base], 2, "it touches the base"),
    ] {
        assert_eq!(loads(form, touched), left, "{form:?} {touched:?}: {why}");
    }
}

/// Copies the registers of a frame, one after the other, with `memcpy`. Returns how often the base
/// pointer is loaded after `-O2`, and the last register's value.
fn moves(form: TagForm, tag: bool) -> (usize, u64) {
    let [base, value, number] =
        &places(&mut with(form), ["CallInfo.l.base", "TValue", "TValue.value.n"]);
    let context = Context::create();
    let code = Code::new(&context, 1);
    let pointer = context.ptr_type(AddressSpace::default());
    let size = context.i64_type().const_int(value.place().size, false);
    let mut last = None;
    for register in 0..4 {
        let field = code.address(code.parameter(0), base.place().offset);
        let load = code.builder.build_load(pointer, field, "base").unwrap();
        code.attach(base, load.as_instruction_value().unwrap());
        let slot = |at| code.address(load.into_pointer_value(), at * value.place().size);
        let (to, from) = (slot(register + 1), slot(register));
        let call = code.builder.build_memcpy(to, 8, from, 8, size).unwrap();
        if tag {
            code.attach(value, call.as_instruction_value().unwrap());
        }
        last = Some(slot(4));
    }
    let (value, load) = code.load(last.unwrap(), 64, "");
    code.attach(number, load);
    code.end(value);
    code.verify();
    code.optimise();
    let mut memory = [0; 24];
    // The frame is at the start of `memory`, and its registers begin at index 4.
    let registers = (&raw mut memory[4]).addr() as u64;
    memory[base.place().offset as usize / 8] = registers;
    memory[4] = 77;
    let blocks = code.function.get_basic_block_iter().flat_map(|block| block.get_instructions());
    let bases = blocks
        .filter(|load| load.get_name().is_some_and(|name| name.to_bytes().starts_with(b"base")));
    (bases.count(), code.run(&mut memory))
}

#[test]
fn copies_of_a_record_keep_the_base() {
    assert_eq!(moves(TagForm::Lowered, false), (4, 77), "a copy without a tag");
    assert_eq!(moves(TagForm::Lowered, true), (1, 77), "the tag of the whole record");
    assert_eq!(moves(TagForm::Scopes, true), (1, 77), "scopes");
    let error = with(TagForm::Clang).place("TValue").unwrap_err().to_string();
    assert!(error.contains("the old format has no tag of a whole struct"), "{error}");
}
