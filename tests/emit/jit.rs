//! Tests `Jit`, also with several threads.

use pretty_assertions::assert_eq;
use std::sync::mpsc;
use std::thread;
use tbaa::declare::{BitRange, Declarations, DeclareError, Record, Target, Tbaa, path};
use tbaa::raw::RawGraph;
use tbaa::{AliasRule, Graph, NodeId, Oracle, Size, TagId};
use tbaa_lower::emit::{
    Emitter, Jit, JitError, JitOptions, Recorder, Sink, SinkOperand, Storage, TagForm, TaggedPlace,
    TextSink,
};

use tbaa_tests::setting;

const THREADS: usize = 4;

fn record(number: usize) -> Record {
    let value = Record::union("").field("n", "double").field("i", "long").field("p", "void *");
    Record::structure(format!("S{number}"))
        .field("next", "struct S0 *")
        .field("size", "int")
        .field("value", value)
        .field("last", format!("struct S{} *", number / 2))
}

fn paths(number: usize) -> [String; 6] {
    [".next", ".size", ".value.n", ".value.i", ".last", ""].map(|path| format!("S{number}{path}"))
}

fn jit(options: JitOptions) -> Jit {
    Jit::with_options(Declarations::new(Target::x86_64()), options).unwrap()
}

/// Asserts that rule `llvm` answers `MayAlias` on emitted tags wherever `oracle` does on the
/// original tags. Returns the numbers of `NoAlias` answers by rule `llvm` and by `oracle`.
fn compare(oracle: &Oracle, graph: &Graph, made: &[(TagId, TagId)]) -> (usize, usize) {
    let llvm = Oracle::new(graph, AliasRule::Llvm);
    let (mut kept, mut apart) = (0, 0);
    for &(a, emitted) in made {
        for &(b, other) in made {
            let (may, says) = (oracle.may_alias(a, b), llvm.may_alias(emitted, other));
            assert!(says || !may, "{}", oracle.explain(a, b));
            kept += usize::from(!says);
            apart += usize::from(!may);
        }
    }
    (kept, apart)
}

/// Emits the nodes of a place. Returns the original and the emitted tag.
fn compile(emitter: &mut Emitter<Graph>, place: &TaggedPlace) -> (TagId, TagId) {
    let node: NodeId = emitter.attachments(place.nodes()).unwrap().tag.unwrap();
    (place.place().tag.unwrap(), emitter.sink_mut().mark_tag(node))
}

/// Four threads compile while a fifth adds types and places. All four get the same, correct nodes.
#[test]
fn threads_compile_while_one_adds() {
    let records = setting("TBAA_RECORDS", 60);
    let mut jit = jit(JitOptions::new());
    let results = thread::scope(|scope| {
        let (senders, workers): (Vec<_>, Vec<_>) = (0..THREADS)
            .map(|_| {
                let (send, receive) = mpsc::channel::<TaggedPlace>();
                let worker = scope.spawn(move || {
                    let mut emitter = Emitter::new(Graph::new());
                    let made: Vec<_> =
                        receive.into_iter().map(|place| compile(&mut emitter, &place)).collect();
                    (emitter.into_sink(), made)
                });
                (send, worker)
            })
            .unzip();
        for number in 0..records {
            jit.define(record(number)).unwrap();
            for place in jit.places(&paths(number)).unwrap() {
                senders.iter().for_each(|send| send.send(place.clone()).unwrap());
            }
        }
        drop(senders);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let (first, made) = &results[0];
    assert_eq!(made.len(), records * 6);
    for (graph, others) in &results[1..] {
        assert_eq!(tbaa_ir::write(graph), tbaa_ir::write(first));
        let index = |made: &[(TagId, TagId)]| -> Vec<_> {
            made.iter().map(|&(tag, node)| (tag, node.index())).collect()
        };
        assert!(index(others) == index(made), "other nodes");
    }
    let (kept, apart) = compare(jit.oracle(), first, made);
    println!("{records} records one by one: {kept} of {apart} NoAlias pairs");
    assert!(apart > 0 && kept * 100 > apart * 95, "{kept} of {apart}");
}

/// Emitted tags give over 90% of the oracle's `NoAlias` answers if one call requests all places,
/// and over 25% if each place has its own call.
#[test]
fn places_one_by_one() {
    let mut all: Vec<String> = (0..12).flat_map(paths).collect();
    all.extend(["*long", "*void *", "*char", "*double", "*S3"].map(str::to_owned));
    let declared = || {
        let mut jit = jit(JitOptions::new());
        (0..12).for_each(|number| _ = jit.define(record(number)).unwrap());
        jit
    };
    let mut together = declared();
    let places = together.places(&all).unwrap();
    let mut emitter = Emitter::new(Graph::new());
    let made: Vec<_> = places.iter().map(|place| compile(&mut emitter, place)).collect();
    let (best, apart) = compare(together.oracle(), emitter.sink(), &made);
    println!("together: {best} of {apart} NoAlias pairs");
    assert!(best * 100 > apart * 90, "{best} of {apart}");
    for turn in 0..all.len() {
        all.rotate_left(turn);
        let mut jit = declared();
        let mut emitter = Emitter::new(Graph::new());
        let mut compile_all = || -> Vec<_> {
            all.iter().map(|path| compile(&mut emitter, &jit.place(path).unwrap())).collect()
        };
        let made = compile_all();
        assert_eq!(compile_all(), made);
        let (kept, apart) = compare(jit.oracle(), emitter.sink(), &made);
        println!("one by one: {kept} of {apart}");
        assert!(kept * 4 > apart, "{turn}: {kept} of {apart}");
        assert!(jit.lowering().unwrap().check(jit.oracle()).is_empty());
    }
}

/// Two JITs emit equal nodes only if their options have the same name (`lineage`).
#[test]
fn lineages() {
    let text = |options: JitOptions| {
        let mut jit = jit(options);
        let place = jit.place("*int").unwrap();
        let mut emitter = Emitter::new(TextSink::default());
        emitter.attachments(place.nodes()).unwrap();
        emitter.sink_mut().take()
    };
    assert_ne!(text(JitOptions::new()), text(JitOptions::new()));
    let named = || JitOptions::new().lineage("a build");
    assert_eq!(text(named()), text(named()));
}

/// A JIT that was stored and loaded accepts its old records again, and refuses changed ones.
#[test]
fn a_stored_jit_is_told_its_records_again() {
    let stored = {
        let mut jit = jit(JitOptions::new().lineage("stored"));
        jit.define(record(0)).unwrap();
        jit.place("S0.value.n").unwrap();
        ron::to_string(&jit.save().unwrap()).unwrap()
    };
    let load = || Jit::load(ron::from_str(&stored).unwrap()).unwrap();
    let mut loaded = load();
    let id = loaded.types().named("S0").unwrap();
    assert_eq!(loaded.define(record(0)), Ok(id));
    loaded.place("S0.value.i").unwrap();
    let member = |name: &str, value: &str| {
        let inner = Record::union("").field("n", "double").field("i", "long").field("p", value);
        let record = Record::structure("S0").field("next", "struct S0 *").field(name, "int");
        record.field("value", inner).field("last", "struct S0 *")
    };
    for (changed, message) in [
        (member("size", "void *").field("more", "int"), "has 4 members and not 5"),
        (member("count", "void *"), "its member `count` is called `size` there"),
        (member("size", "int *"), "its member `p` has another type there"),
        (Record::union("S0").field("next", "struct S0 *"), "is a struct there"),
        (member("size", "void *").align(16), "has alignment 8 and not 16"),
    ] {
        let mut loaded = load();
        let error = loaded.define(changed).unwrap_err();
        assert!(matches!(error, DeclareError::Changed { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
        // After the failure, the JIT still accepts the unchanged record.
        loaded.define(record(0)).unwrap();
    }
}

/// Paths that the Rust compiler checks can be turned into text, and used like other paths.
#[test]
fn typed_paths() {
    #[derive(Tbaa)]
    #[repr(C)]
    struct Vector {
        data: *mut f64,
        len: usize,
    }
    let Some(host) = Target::host() else { return };
    let mut jit = Jit::new(Declarations::new(host));
    let data = jit.types_mut().path(path!(Vector.data)).unwrap();
    let paths = [data, jit.types_mut().path(path!(Vector.data[*])).unwrap()];
    assert_eq!(paths, ["Vector.data", "Vector.data[*]"]);
    let places = jit.places(&paths).unwrap();
    assert_eq!(places[0].place().offset, std::mem::offset_of!(Vector, data) as u64);
    assert!(!jit.oracle().may_alias(places[0].place().tag, places[1].place().tag));
    let len = jit.types_mut().path(path!(Vector.len)).unwrap();
    assert!(jit.call(&[len]).unwrap().tag.is_some());
}

#[test]
fn nothing_stays_without_a_tag_in_silence() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("B").field("a", "int").bits("b", "int", 3)).unwrap();
    let mut closed = Jit::new(types.clone());
    let bits = closed.place("B.b").unwrap();
    let range = Some(BitRange { first: 32, width: 3 });
    assert_eq!((bits.room(), bits.place().bits), (Size::Bytes(1), range));
    assert!(bits.nodes().tag.is_some());
    assert!(matches!(closed.place("B.c"), Err(JitError::Declare(_))));
    let error = closed.place("*void").unwrap_err().to_string();
    assert!(error.starts_with("no tag for \"*void\": it has no value"), "{error}");
    let mut clang = Jit::with_options(types, JitOptions::new().form(TagForm::Clang)).unwrap();
    assert!(clang.place("B.b").unwrap_err().to_string().starts_with("no tag for \"B.b\""));
    // LLVM ignores sizes, so an access that is larger than its type gets the tag of `char`.
    let wide = clang.sized("B.a", 16).unwrap();
    assert_eq!(wide.nodes(), clang.place("*char").unwrap().nodes());
    assert!(wide.nodes().tag.is_some());
    let mut alone = jit(JitOptions::new().form(TagForm::Scopes));
    let [a, b] = ["*int", "*float"].map(|path| alone.place(path).unwrap());
    assert!(a.nodes().tag.is_none() && b.nodes().noalias.is_some());
    let mut both = jit(JitOptions::new().form(TagForm::LoweredScopes));
    let place = both.place("*int").unwrap();
    assert!(place.nodes().tag.is_some() && place.nodes().alias_scope.is_some());
}

/// A tag on a call, or in a `!tbaa.struct` node, does not say that memory is immutable.
#[test]
fn instructions_that_may_write() {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("P").field("x", "int").field("y", "int")).unwrap();
    let mut jit = Jit::with_options(types, JitOptions::new().lineage("J")).unwrap();
    let place = jit.place("immutable P.x").unwrap();
    let call = jit.call(&["immutable P.x"]).unwrap();
    let mut emitter = Emitter::new(TextSink::default());
    let [load, ours, touched] = [place.nodes(), &place.tagged().call, &call]
        .map(|nodes| emitter.attachments(nodes).unwrap().tag.unwrap());
    assert_eq!(ours, touched);
    assert_ne!(load, ours);
    fn operands(text: &str, node: impl std::fmt::Display) -> &str {
        text.lines().find_map(|line| line.strip_prefix(&format!("!{node} = "))).unwrap()
    }
    let text = emitter.sink_mut().take();
    assert!(operands(&text, load).ends_with(", i64 0, i64 1}"), "{text}");
    assert!(operands(&text, ours).ends_with(", i64 0}"), "{text}");
    // In a `!tbaa.struct` node, the emitter clears the immutability flag too.
    let mut graph = Graph::new();
    let mut types = jit.types().clone().into_tagged(tbaa::declare::Policy::Clang);
    let tag = types.tag(&mut graph, "immutable P.x").unwrap();
    let entry = tbaa::CopyEntry { offset: 0, size: 4, tag };
    let copy = graph.builder().struct_copy(&[entry]).unwrap();
    let list = emitter.copy(&graph, &graph, copy).unwrap().copy.unwrap();
    let text = emitter.sink_mut().take();
    let node = operands(&text, list).rsplit('!').next().unwrap().trim_end_matches('}');
    assert!(operands(&text, node).ends_with(", i64 0}"), "{text}");
}

/// Deeply nested nodes are made and dropped without recursion.
#[test]
fn deep_nodes() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let mut ty = b.root("R").unwrap();
    for number in 0..200_000 {
        ty = b.scalar_type(format!("t{number}"), ty).unwrap();
    }
    let mut recorder = Emitter::new(Recorder);
    let node = recorder.node(&graph, ty.node()).unwrap();
    drop(recorder);
    let mut emitter = Emitter::new(Graph::new());
    emitter.recorded(&node).unwrap();
    assert_eq!(emitter.sink().node_count(), 200_001);
    drop(emitter);
    drop(node);
    let own = Recorder.node(&[SinkOperand::Itself], Storage::Distinct).unwrap();
    let mut emitter = Emitter::new(TextSink::default());
    emitter.recorded(&own).unwrap();
    assert_eq!(emitter.sink_mut().take(), "!0 = distinct !{!0}\n");
}
