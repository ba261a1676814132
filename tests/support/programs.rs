//! Programs that tests optimise with LLVM and run. Each access ends with its path, as `@{path}`.

use tbaa::declare::{Declarations, Policy, Record, TaggedTypes as Declared, Target};
use tbaa::{Graph, TagId};

use super::random::numbers;

/// Replaces each `@{path}` by `, !tbaa !N`, or by nothing if `tag` returns `None`. Appends the
/// graph's metadata.
pub fn with_tags(program: &str, graph: &Graph, tag: impl Fn(&str) -> Option<TagId>) -> String {
    let metadata = tbaa_ir::write(graph);
    let numbers = numbers(&metadata);
    let with = |path: &str| Some(format!(", !tbaa {}", numbers[tag(path)?.index()]));
    attached(program, with) + "\n" + &metadata
}

/// Replaces each `@{path}` in a program by what `with` returns, or by nothing for `None`.
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

/// A program that writes a union's member through a pointer and reads another member, and whose
/// loop reads a field that no store in the loop can change.
pub const PUN: &str = include_str!("programs/pun.ll");

pub const PATHS: [&str; 5] = ["U.f", "U.i", "*int", "T.count", "T.p"];

/// Returns union `U` and struct `T`, and a graph with the tags of [`PATHS`] under policy `Rfc`.
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

/// Two modules: `@f` of the first calls `@put` of the second.
pub const HERE: &str = include_str!("programs/here.ll");
pub const THERE: &str = include_str!("programs/there.ll");

/// Like [`HERE`] and [`THERE`], but both `@f` and `@put` write `s->n[0]`.
pub const FIELD_HERE: &str = include_str!("programs/field_here.ll");
pub const FIELD_THERE: &str = include_str!("programs/field_there.ll");

/// Returns a graph, and tags for the scalar fields of `records` records and for accesses through
/// pointers. Every fifth record is a union, and every third contains another record.
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
