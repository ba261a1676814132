//! Programs that LLVM optimises and that are run: `@{path}` follows each access.

use tbaa::declare::{Declarations, Policy, Record, TaggedTypes as Declared, Target};
use tbaa::{Graph, TagId};

use super::random::numbers;

/// Replaces each `@{path}` in a program by its tag, `, !tbaa !N`, or by nothing.
pub fn with_tags(program: &str, graph: &Graph, tag: impl Fn(&str) -> Option<TagId>) -> String {
    let metadata = tbaa_ir::write(graph);
    let numbers = numbers(&metadata);
    let with = |path: &str| Some(format!(", !tbaa {}", numbers[tag(path)?.index()]));
    attached(program, with) + "\n" + &metadata
}

/// Replaces each `@{path}` in a program by a text, or by nothing.
pub fn attached(program: &str, with: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = program;
    while let Some((before, after)) = rest.split_once("@{") {
        let (path, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.extend(with(path));
        rest = after;
    }
    out + rest
}

/// A union that is read through another member than the one that was written through a pointer, and
/// a loop that reads a field which no store in the loop can change.
pub const PUN: &str = include_str!("programs/pun.ll");

pub const PATHS: [&str; 5] = ["U.f", "U.i", "*int", "T.count", "T.p"];

/// The types of the programs, and their tags by policy `Rfc`.
pub fn types() -> (Declared, Graph) {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::union("U").field("i", "int").field("f", "float")).unwrap();
    types.define(Record::structure("T").field("p", "int *").field("count", "int")).unwrap();
    let (mut declared, mut graph) = (types.into_tagged(Policy::Rfc), Graph::new());
    for path in PATHS {
        declared.tag(&mut graph, path).unwrap();
    }
    (declared, graph)
}

/// One function in each of two modules; linked, one is inlined into the other.
pub const HERE: &str = include_str!("programs/here.ll");
pub const THERE: &str = include_str!("programs/there.ll");

/// `s->n[0]` is written here, and in a function of another module.
pub const FIELD_HERE: &str = include_str!("programs/field_here.ll");
pub const FIELD_THERE: &str = include_str!("programs/field_there.ll");

/// The tags of a runtime's records, every fifth a union, many one in another;
/// and of some pointers.
pub fn runtime(records: usize) -> (Graph, Vec<TagId>) {
    let mut types = Declarations::new(Target::x86_64());
    let mut paths = Vec::new();
    for at in 0..records {
        let new = if at % 5 == 0 { Record::union } else { Record::structure };
        let mut record = new(format!("S{at}"));
        let inner = format!("S{}", at - at.min(7));
        for (field, scalar) in ["int", "double", "void *", "int *"].into_iter().enumerate() {
            let name = format!("m{field}");
            if field == 3 && at % 3 == 1 && at > 0 {
                record = record.field(name, inner.as_str());
            } else {
                paths.push(format!("S{at}.{name}"));
                record = record.field(name, scalar);
            }
        }
        types.define(record).expect("a record");
    }
    paths.extend(["*int", "*double", "*void *", "*char", "*int *"].map(str::to_owned));
    let (mut graph, mut types) = (Graph::new(), types.into_tagged(Policy::Rfc));
    let tags = paths.iter().map(|path| types.tag(&mut graph, path).expect("a tag")).collect();
    (graph, tags)
}
