//! The structs of a runtime like Lua's.

use tbaa::declare::{Declarations, Policy, Record, TaggedTypes, Target};
use tbaa::{Graph, TagId};

/// Paths of the accesses that a compiler of such a language makes.
pub const PATHS: [&str; 24] = [
    "lua_State.ci",
    "lua_State.top",
    "lua_State.stack",
    "CallInfo.func",
    "CallInfo.l.base",
    "CallInfo.l.savedpc",
    "CallInfo.nresults",
    "TValue.value.gc",
    "TValue.value.p",
    "TValue.value.n",
    "TValue.value.i",
    "TValue.value.b",
    "TValue.tt",
    "*TValue",
    "LClosure.p",
    "LClosure.upvals[*]",
    "UpVal.v",
    "UpVal.u.value",
    "UpVal.u.value.value.n",
    "Table.array",
    "Table.sizearray",
    "Table.metatable",
    "Proto.k",
    "*char",
];

pub fn types() -> Declarations {
    let mut types = Declarations::new(Target::x86_64());
    let value = Record::union("Value")
        .field("gc", "void *")
        .field("p", "void *")
        .field("n", "double")
        .field("i", "long long")
        .field("b", "int");
    let open = Record::structure("").field("next", "struct UpVal *").field("touched", "int");
    let frame = Record::structure("").field("base", "TValue *").field("savedpc", "int *");
    for record in [
        Record::structure("TValue").field("value", value).field("tt", "unsigned short"),
        Record::structure("CallInfo")
            .field("func", "TValue *")
            .field("l", frame)
            .field("nresults", "short"),
        Record::structure("lua_State")
            .field("ci", "CallInfo *")
            .field("top", "TValue *")
            .field("stack", "TValue *"),
        Record::structure("UpVal")
            .field("v", "TValue *")
            .field("u", Record::union("").field("open", open).field("value", "TValue")),
        Record::structure("Proto").field("k", "TValue *").field("code", "int *"),
        Record::structure("LClosure").field("p", "Proto *").field("upvals", "UpVal * [4]"),
        Record::structure("Table")
            .field("array", "TValue *")
            .field("sizearray", "unsigned int")
            .field("metatable", "struct Table *"),
    ] {
        types.define(record).unwrap();
    }
    types
}

/// The declarations under a policy, and the tags of [`PATHS`].
pub fn tags(policy: Policy) -> (Graph, TaggedTypes, Vec<TagId>) {
    let mut graph = Graph::new();
    let mut types = types().into_tagged(policy);
    let tags = PATHS.iter().filter_map(|path| types.tag(&mut graph, path).ok()).collect();
    (graph, types, tags)
}
