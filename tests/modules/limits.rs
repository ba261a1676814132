//! The message at each limit names the limit. Most messages also say what to do instead.

use std::fmt::Display;

use tbaa::declare::{Declarations, Policy, Record, Target};
use tbaa::{BuildError, Graph, GraphError};
use tbaa_ir::clang::{ClangAccesses, ClangRecords};

fn says(error: impl Display, limit: &str, remedy: &str) {
    let error = error.to_string();
    assert!(error.contains(limit) && error.contains(remedy), "{error}");
}

/// The zeros of `text` take no memory, because nothing touches their pages.
#[cfg(target_pointer_width = "64")]
#[test]
fn text_of_4_gib() {
    let text = vec![0; 1 << 32];
    says(tbaa_ir::read(&text).unwrap_err(), "4 GiB", "read a module in parts");
}

#[test]
fn nodes_inside_nodes() {
    let nested = |depth| format!("!0 = {}{}", "!{".repeat(depth), "}".repeat(depth));
    assert!(tbaa_ir::read(nested(65).as_bytes()).is_ok());
    let error = tbaa_ir::read(nested(66).as_bytes()).unwrap_err();
    says(error, "64 deep", "give the inner ones numbers");
}

#[test]
fn full_stores() {
    says(GraphError::Full, "2^29", "make a graph for each module");
    says(BuildError::from(GraphError::Full), "2^29", "make a graph for each module");
    says(tbaa::types::TypeError::Full, "2^31", "make a context for each module");
}

#[test]
fn declared_sizes() {
    let mut types = Declarations::new(Target::x86_64());
    assert!(types.ty(&format!("char[{}]", (1_u64 << 56) - 1)).is_ok());
    says(types.ty(&format!("char[{}]", 1_u64 << 56)).unwrap_err(), "2^56 bytes", "");
}

#[test]
fn records_inside_records() {
    let nested = |depth| {
        let innermost = Record::structure("").field("x", "int");
        (0..depth).fold(innermost, |inner, _| Record::structure("").anonymous(inner))
    };
    let mut types = Declarations::new(Target::x86_64());
    assert!(types.define(Record::structure("S").anonymous(nested(62))).is_ok());
    let error = types.define(Record::structure("T").anonymous(nested(64))).unwrap_err();
    says(error, "64 deep", "name the inner ones");
}

/// Returns layouts as clang dumps them: of a struct, and of `depth` unnamed structs nested in it.
fn unnamed(depth: usize) -> String {
    let mut dump = String::new();
    let name = |at: usize| match at {
        0 => "struct S".to_owned(),
        _ => format!("struct S::(anonymous at a.h:{at}:3)"),
    };
    for at in (0..=depth).rev() {
        dump += &format!("*** Dumping AST Record Layout\n         0 | {}\n", name(at));
        for inner in at + 1..=depth {
            dump += &format!("         0 | {}{} \n", "  ".repeat(inner - at), name(inner));
        }
        dump += &format!("         0 | {}int x\n", "  ".repeat(depth - at + 1));
        dump += "           | [sizeof=4, align=4]\n\n";
    }
    dump
}

#[test]
fn unnamed_records_of_a_header() {
    let declare = |depth| {
        let mut types = Declarations::new(Target::x86_64());
        let dump = unnamed(depth);
        let failed = ClangRecords::parse(&dump).declare(&mut types);
        (types.ty("struct S").is_ok(), format!("{failed:?}"))
    };
    assert!(declare(3).0, "{:?}", declare(3));
    let (_, failed) = declare(40);
    says(failed, "4,096 unnamed records, or 32", "name them");
}

#[test]
fn members_that_clang_is_asked_about() {
    let record = |count: usize| {
        (0..count).fold(Record::structure("S"), |record, at| record.field(format!("m{at}"), "int"))
    };
    for (members, found) in [(4096, 0), (4097, 1)] {
        let mut types = Declarations::new(Target::x86_64());
        types.define(record(members)).unwrap();
        let accesses = ClangAccesses::of(&types);
        let mut types = types.into_tagged(Policy::Clang);
        let differences =
            accesses.differences(&mut types, &mut Graph::new(), [(b"", None)]).unwrap();
        let endless = differences
            .iter()
            .filter(|difference| difference.reason.contains("more than 4096 members"));
        assert_eq!(endless.clone().count(), found);
        endless
            .for_each(|endless| says(&endless.reason, "4096 members", "name the records inside"));
    }
}
