//! A Lua runtime, declared in Rust and in RON. The structs follow Lua 5.3's `lobject.h` and
//! `lstate.h`, shortened.

use std::cell::Cell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use tbaa::Graph;
use tbaa::declare::{Declarations, Policy, TaggedTypes, Tbaa, TypedPath, path};
use tbaa::spec::Spec;

use crate::host;

#[derive(Tbaa)]
#[repr(C)]
struct GCObject {
    next: Option<NonNull<GCObject>>,
    tt: u8,
    marked: Cell<u8>,
}

#[derive(Tbaa)]
#[repr(C)]
union Value {
    gc: *mut GCObject,
    p: *mut c_void,
    b: Kind,
    f: Option<unsafe extern "C" fn(*mut State) -> i32>,
    #[tbaa(ty = "long long")]
    i: i64,
    n: f64,
    pair: ManuallyDrop<[f32; 2]>,
}

#[derive(Tbaa, Clone, Copy)]
#[repr(u32)]
enum Kind {
    Nil,
    Number = 3,
}

#[derive(Tbaa)]
#[repr(C)]
#[tbaa(name = "lua_TValue")]
struct TValue {
    value: Value,
    #[tbaa(name = "tt_")]
    tt: Kind,
}

#[derive(Tbaa)]
#[repr(C)]
struct Vector<T, Mark> {
    data: *mut T,
    len: usize,
    mark: PhantomData<Mark>,
}

struct Stack;

#[derive(Tbaa)]
#[repr(transparent)]
#[tbaa(parent = "int")]
struct Handle(u32, PhantomData<Stack>);

#[derive(Tbaa)]
#[repr(transparent)]
#[tbaa(parent = Handle)]
struct FrameHandle(u32);

#[derive(Tbaa)]
#[repr(transparent)]
struct Rows([[TValue; 2]; 3]);

#[derive(Tbaa)]
#[repr(C, packed)]
struct Op {
    code: u8,
    arg: u32,
}

#[derive(Tbaa)]
#[repr(C)]
pub(crate) struct State {
    header: GCObject,
    ok: bool,
    #[tbaa(immutable)]
    top: *mut TValue,
    rows: Rows,
    next: Option<Box<State>>,
    stack: Vector<TValue, Stack>,
    frame: FrameHandle,
    r#type: Handle,
    op: Op,
}

#[derive(Tbaa)]
#[repr(C)]
struct Extra {
    #[tbaa(skip)]
    pad: u64,
    #[tbaa(char)]
    scratch: (u64, &'static str),
    #[tbaa(ty = "char [8]")]
    text: u64,
    tail: [TValue; 0],
}

const SPEC: &str = include_str!("runtime.ron");

#[test]
fn rust_and_ron_give_one_graph() {
    let Some((target, host)) = host().filter(|_| size_of::<usize>() == 8) else { return };
    for (policy, word) in [(Policy::Clang, "clang"), (Policy::Rfc, "rfc")] {
        let mut types = Declarations::new(host.clone()).into_tagged(policy);
        let mut graph = Graph::new();
        let mut typed = Accesses { types: &mut types, graph: &mut graph, paths: Vec::new() };
        typed.add(path!(State.header.next));
        typed.add(path!(State.header.marked));
        typed.add(path!(State.ok));
        typed.add(path!(State.top));
        typed.add(path!(State.top->tt_));
        typed.add(path!(State.top[1].value.n));
        typed.add(path!(State.rows[2][i].value.gc->next));
        typed.add(path!(State.rows[0][1].value.pair[*]));
        typed.add(path!(State.next->next));
        typed.add(path!(State.stack.data[*].value.i));
        typed.add(path!(State.stack.len));
        typed.add(path!(State.frame));
        typed.add(path!(State.r#type));
        typed.add(path!(State.op.arg));
        typed.add(path!(TValue.value.f));
        typed.add(path!(TValue.value.b));
        typed.add(path!(Vector<TValue, Stack>.len));
        typed.add(path!(Extra.scratch));
        typed.add(path!(Extra.text));
        typed.add(path!(Extra.tail[7].tt_));
        let paths = typed.paths.iter().map(|path| format!("{path:?},")).collect::<String>();
        let spec = SPEC.replace("TARGET", target).replace("POLICY", word).replace("PATHS", &paths);
        let spec = Spec::load(&spec).unwrap_or_else(|error| panic!("{error}"));
        let (rust, ron) = (tbaa::text::write(&graph), tbaa::text::write(spec.graph()));
        assert!(graph == *spec.graph(), "{word}\n{rust}\n{ron}");
        assert!(graph.tag_count() > 10, "{rust}");
    }
}

struct Accesses<'a> {
    types: &'a mut TaggedTypes,
    graph: &'a mut Graph,
    paths: Vec<String>,
}

impl Accesses<'_> {
    fn add<B: Tbaa, F>(&mut self, path: TypedPath<B, F>) {
        let handle = self.types.handle(self.graph, path).unwrap();
        let base = B::declare(self.types.types_mut()).unwrap();
        let path = format!("{}{}", self.types.types().display(base), path.steps());
        assert!(handle.place().tag.is_some(), "{path}");
        self.paths.push(path);
    }
}
