//! The share of rule `union`'s `NoAlias` pairs that each scheme keeps.

use std::fs;
use std::path::Path;
use std::process::Command;

use tbaa::declare::{Declarations, Policy, Target};
use tbaa::spec::Spec;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_ir::clang::ClangRecords;
use tbaa_lower::{Lowering, Options, Source, access_paths, tags_of_clang};

use super::random;
use tbaa_tests::Rng;
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::lua;
use tbaa_tests::process::{crate_folder, text_of};

/// The pairs that each scheme keeps, out of rule `union`'s.
#[derive(Default)]
struct Row {
    accesses: usize,
    no_alias: u64,
    clang: u64,
    open: u64,
    mixed: u64,
    closed: u64,
}

impl Row {
    fn add(&mut self, other: &Row) {
        self.accesses += other.accesses;
        self.no_alias += other.no_alias;
        self.clang += other.clang;
        self.open += other.open;
        self.mixed += other.mixed;
        self.closed += other.closed;
    }

    fn print(&self, name: &str) {
        let share = |kept: u64| kept as f64 / self.no_alias.max(1) as f64;
        println!(
            "| {name} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
            self.accesses,
            self.no_alias,
            share(self.clang),
            share(self.open),
            share(self.mixed),
            share(self.closed),
        );
    }
}

/// Measures all accesses that declared types give rise to.
fn measure(name: &str, types: &Declarations) -> Row {
    let mut source = Graph::new();
    let mut rfc = types.clone().into_tagged(Policy::Rfc);
    let mut clang = types.clone().into_tagged(Policy::Clang);
    let mut clang_graph = Graph::new();
    let (mut tags, mut theirs): (Vec<TagId>, Vec<Option<TagId>>) = Default::default();
    for path in access_paths(types, |_| true) {
        let Ok(tag) = rfc.tag(&mut source, &path) else { continue };
        if !tags.contains(&tag) {
            tags.push(tag);
            theirs.push(clang.tag(&mut clang_graph, &path).ok());
        }
    }
    let fixed = tags_of_clang(types, &mut source, |_| true).unwrap();
    // The records are private; a pointer may lead into them, or to the others' memory.
    let scalars = tags_of_clang(types, &mut source, |_| false).unwrap();
    let oracle = Oracle::new(&source, AliasRule::Union);

    let llvm = Oracle::new(&clang_graph, AliasRule::Llvm);
    let matrix = oracle.matrix(&tags);
    let mut row = Row { accesses: tags.len(), ..Row::default() };
    for i in 0..tags.len() {
        for j in i + 1..tags.len() {
            if !matrix.may_alias(i, j) {
                row.no_alias += 1;
                row.clang += u64::from(!llvm.may_alias(theirs[i], theirs[j]));
            }
        }
    }
    let is_field = |tag: TagId| source.tag(tag).is_ok_and(|tag| !tag.is_whole());
    let kept = |others: Option<(Graph, Vec<(TagId, TagId)>)>, private: bool| {
        let mut lowering = Lowering::new(Options::new());
        if let Some((graph, pairs)) = others {
            lowering.fix(&oracle, graph, pairs).unwrap();
        }
        let sources = tags.iter().map(|&tag| match private && is_field(tag) {
            true => Source::from(tag).private(),
            false => tag.into(),
        });
        lowering.lower(&oracle, sources).unwrap();
        assert_eq!(lowering.check(&oracle), [], "{name}");
        let lost = lowering.lost();
        // Pairs beyond the limit of searches are counted nowhere.
        assert!(lost.unsearched || lost.no_alias == row.no_alias, "{name}: {lost:?}");
        lost.no_alias - lost.pairs
    };
    let (open, mixed) = (kept(Some(fixed), false), kept(Some(scalars), true));
    let closed = kept(None, false);
    let row = Row { open, mixed, closed, ..row };
    assert!(row.closed >= row.clang, "{name}: clang keeps {}, closed {}", row.clang, row.closed);
    row
}

/// The records of a C text, as clang 22 lays them out.
fn records(name: &str, text: &str, flags: &[&str]) -> Declarations {
    let file = scratch(&format!("lower/{name}.c"), text.as_bytes());
    let layouts = ["-fdump-record-layouts-complete", "-fdump-record-layouts-canonical"];
    let layouts = layouts.iter().flat_map(|flag| ["-Xclang", flag]);
    let mut clang = Command::new("clang-22");
    clang.args(["-fsyntax-only", "-w", "-target", "x86_64-linux-gnu"]).args(layouts);
    let dump = text_of(clang.args(flags).arg(file)).unwrap();
    let mut types = Declarations::new(Target::x86_64());
    ClangRecords::parse(&dump).declare(&mut types);
    types
}

#[test]
fn table() {
    println!("| types | accesses | NoAlias pairs | clang | open | mixed | closed |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut random = Row::default();
    for seed in 1..40 {
        let types = random::records(&mut Rng(seed)).declare(Target::x86_64()).unwrap();
        random.add(&measure(&format!("seed {seed}"), &types));
    }
    random.print("random, rich in unions");
    let ravi = Spec::load(include_str!("../../specs/ravi-declared.ron")).unwrap();
    let ravi = measure("Ravi", ravi.tagged().unwrap().types());
    ravi.print("Ravi");
    assert!(random.closed > random.clang && ravi.closed > ravi.clang);
    if Llvm::get().is_none() {
        return;
    }
    let sources = lua::sources("lua-5.4.9");
    let folder = sources[0].parent().unwrap().to_str().unwrap();
    let text = "#include \"lstate.h\"\n#include \"lobject.h\"\n#include \"lfunc.h\"\n";
    let types = records("lua", text, &["-I", folder]);
    let lua = measure("Lua", &types);
    lua.print("Lua 5.4");
    assert!(lua.closed > lua.clang);
    // Headers that a machine may have.
    for (name, text, flags, at) in [(
        "CPython 3.11",
        "#include <Python.h>\n",
        "-I/usr/include/python3.11",
        "/usr/include/python3.11/Python.h",
    )] {
        if Path::new(at).exists() {
            measure(name, &records("headers", text, &[flags])).print(name);
        }
    }
    if std::env::var("TBAA_PROGRAMS").is_ok_and(|value| value == "fetch") {
        let benches = Path::new(tbaa_tests::ROOT).join("benches/sources");
        let folder = crate_folder("libsqlite3-sys", &benches, "--locked").unwrap();
        let text = fs::read_to_string(folder.join("sqlite3/sqlite3.c")).unwrap();
        let sqlite = measure("SQLite", &records("sqlite", &text, &[]));
        sqlite.print("SQLite 3");
        assert!(sqlite.closed > sqlite.clang);
    }
    if let Ok(header) = std::env::var("TBAA_HEADER") {
        let text = fs::read_to_string(&header).unwrap();
        measure(&header, &records("given", &text, &[])).print(&header);
    }
}
