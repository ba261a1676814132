//! Small programs that LLVM 22 miscompiles, or crashes on, if tags are attached unchanged. LLVM
//! compiles them correctly with *lowered* tags, which `tbaa_lower` computes, or with alias scopes.

use std::process::Command;

use inkwell::context::Context;
use inkwell::values::InstructionValue;
use tbaa::declare::{Declarations, Policy, Record, TaggedTypes as Types, Target};
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_inkwell::{AttachError, Tagger};
use tbaa_lower::emit::{EmitError, Lowered, Plan, Reason};
use tbaa_lower::{Lowering, Options};

use crate::support::{Code, TBAA, attach_planned};

type Attach<'a> = &'a dyn for<'ctx> Fn(&Tagger, TagId, InstructionValue<'ctx>);

/// Attaches the tag unchanged, even if LLVM misreads it.
fn attach_raw<'ctx>(tagger: &Tagger, graph: &Graph, tag: TagId, to: InstructionValue<'ctx>) {
    let context = to.get_parent().unwrap().get_context();
    let node =
        tagger.emit(context, |tagger| tagger.node(graph, graph.tag_node(tag))).unwrap().unwrap();
    to.set_metadata(node.as_value(), TBAA).unwrap();
}

/// An access: the offset, the number of bits, and the value of a store (`None` for a load).
type Step = (u64, u32, Option<u64>);

/// Runs a program of three accesses to one object. The first and third use one pointer, the second
/// another. Returns the value of the last access, a load.
fn run(steps: [(Step, TagId); 3], attach: Attach<'_>) -> u64 {
    let context = Context::create();
    let code = Code::new(&context, 2);
    let mut last = None;
    for (number, ((offset, bits, value), tag)) in steps.into_iter().enumerate() {
        let address = code.address(code.parameter(number % 2), offset);
        let instruction = match value {
            Some(value) => code.store(address, bits, value),
            None => {
                let (value, load) = code.load(address, bits, "");
                last = Some(value);
                load
            }
        };
        attach(&code.tagger, tag, instruction);
    }
    code.end(last.unwrap());
    code.optimise();
    code.run(&mut [0; 16])
}

/// Does the same as [`run`], with the metadata that `plan` has for each tag.
fn run_planned(steps: [(Step, TagId); 3], plan: &impl Plan) -> u64 {
    run(steps, &|tagger, tag, to| attach_planned(tagger, plan, tag, to).unwrap())
}

/// Returns the results for unchanged tags, lowered tags, scopes, and lowered tags with scopes.
fn all_ways(graph: &Graph, steps: [(Step, TagId); 3]) -> [u64; 4] {
    let oracle = Oracle::new(graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new().scopes());
    lowering.lower(&oracle, graph.tags()).unwrap();
    let both = || Lowered::new(&lowering, &oracle);
    [
        run(steps, &|tagger, tag, to| attach_raw(tagger, graph, tag, to)),
        run_planned(steps, &lowering),
        run_planned(steps, &both().scopes_alone()),
        run_planned(steps, &both()),
    ]
}

fn declared() -> (Graph, Types) {
    let mut types = Declarations::new(Target::x86_64());
    types
        .define(Record::union("U").field("n", "double").field("i", "long").field("f", "float"))
        .unwrap();
    types.define(Record::structure("Inner").field("x", "int").field("y", "int")).unwrap();
    types.define(Record::structure("Outer").field("inner", "Inner").field("z", "int")).unwrap();
    (Graph::new(), types.into_tagged(Policy::Rfc))
}

/// LLVM looks only at a union's last member, but a pointer may point to another member.
#[test]
fn first_against_last_member_of_a_union() {
    let (mut graph, mut types) = declared();
    let last = types.tag(&mut graph, "U.f").unwrap();
    let first = types.tag(&mut graph, "*double").unwrap();
    // The program: u->f = 1; *n = 2^32 + 7; return u->f
    let steps =
        [((0, 32, Some(1)), last), ((0, 64, Some((1 << 32) + 7)), first), ((0, 32, None), last)];
    assert_eq!(all_ways(&graph, steps), [1, 7, 7, 7]);
    assert_eq!(refusal(&graph, last), Reason::Union { ty: graph.tag(last).unwrap().base });
}

#[test]
fn a_struct_assigned_whole_and_a_field_read() {
    let (mut graph, mut types) = declared();
    let whole = types.tag(&mut graph, "Outer.inner").unwrap();
    let field = types.tag(&mut graph, "Outer.inner.y").unwrap();
    // The program: o->inner.y = 1; o->inner = {3, 2}; return o->inner.y
    let steps =
        [((4, 32, Some(1)), field), ((0, 64, Some((2 << 32) + 3)), whole), ((4, 32, None), field)];
    assert_eq!(all_ways(&graph, steps), [1, 2, 2, 2]);
    assert_eq!(refusal(&graph, whole), Reason::PartialStruct);
}

fn refusal(graph: &Graph, tag: TagId) -> Reason {
    let context = Context::create();
    let code = Code::new(&context, 1);
    let store = code.store(code.parameter(0), 32, 1);
    match attach_planned(&code.tagger, graph, tag, store) {
        Err(AttachError::Emit(EmitError::Refused(refusal))) => {
            assert!(store.get_metadata(TBAA).is_none());
            refusal.reason
        }
        other => panic!("{other:?}"),
    }
}

const CRASH: &str = "TBAA_TEST_CRASH";

/// Builds, optimises and runs loads of a union's first member around a store to another struct.
/// Unchanged tags of `Policy::Rfc` crash LLVM's optimiser; lowered tags do not.
fn crashing_program(attach: Attach<'_>, tags: [TagId; 2]) {
    let context = Context::create();
    let code = Code::new(&context, 2);
    let (first, load) = code.load(code.parameter(0), 64, "");
    attach(&code.tagger, tags[0], load);
    let store = code.store(code.address(code.parameter(1), 8), 32, 1);
    attach(&code.tagger, tags[1], store);
    let (second, load) = code.load(code.parameter(0), 64, "");
    attach(&code.tagger, tags[0], load);
    let sum = code.builder.build_int_add(first.into_int_value(), second.into_int_value(), "");
    code.end(sum.unwrap().into());
    code.optimise();
    assert_eq!(code.loads(), 1, "{}", code.text());
    assert_eq!(code.run(&mut [21, 0]), 42);
}

fn crashing_tags() -> (Graph, [TagId; 2]) {
    let (mut graph, mut types) = declared();
    let tags = ["U.n", "Outer.z"].map(|path| types.tag(&mut graph, path).unwrap());
    (graph, tags)
}

#[test]
fn tags_that_crash_llvm() {
    let (graph, tags) = crashing_tags();
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags).unwrap();
    crashing_program(&|tagger, tag, to| attach_planned(tagger, &lowering, tag, to).unwrap(), tags);
    assert!(matches!(refusal(&graph, tags[0]), Reason::Rejected(_)));

    // With unchanged tags, the same program crashes: run it in another process.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "hazards::crash", "--nocapture"])
        .env(CRASH, "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    println!("{}\n{errors}", output.status);
    // No exit code: a signal ended the process. A test that fails exits with 101.
    assert_eq!(output.status.code(), None, "{errors}");
}

/// The test `tags_that_crash_llvm` runs this in another process.
#[test]
#[ignore = "crashes, as LLVM does; another test starts it"]
fn crash() {
    if std::env::var_os(CRASH).is_some() {
        let (graph, tags) = crashing_tags();
        crashing_program(&|tagger, tag, to| attach_raw(tagger, &graph, tag, to), tags);
    }
}
