//! The share of rule `union`'s `NoAlias` pairs that LLVM finds by each kind of tags.

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

/// The number of accesses; the number of `NoAlias` pairs by rule `union`; and how many of these
/// pairs LLVM finds by clang's tags, and by a `Lowering`'s tags if clang's code accesses
/// everything (open), only scalars (mixed) or nothing (closed).
type Row = [u64; 6];

fn print(name: &str, [accesses, no_alias, kept @ ..]: Row) {
    let share = |kept: u64| format!("{:.3}", kept as f64 / no_alias.max(1) as f64);
    println!("| {name} | {accesses} | {no_alias} | {} |", kept.map(share).join(" | "));
}

/// Returns whether LLVM finds more pairs by closed lowerings than by clang's tags.
fn is_better(&[_, _, clang, _, _, closed]: &Row) -> bool {
    closed > clang
}

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
    // For the mixed lowering, clang's code accesses scalars, and uses no record type.
    let scalars = tags_of_clang(types, &mut source, |_| false).unwrap();
    let oracle = Oracle::new(&source, AliasRule::Union);

    let llvm = Oracle::new(&clang_graph, AliasRule::Llvm);
    let matrix = oracle.matrix(&tags);
    let (mut no_alias, mut of_clang) = (0, 0);
    for (i, j) in (0..tags.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
        if !matrix.may_alias(i, j) {
            no_alias += 1;
            of_clang += u64::from(!llvm.may_alias(theirs[i], theirs[j]));
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
        // If searches stopped at their limit, `lost` does not count the remaining pairs.
        assert!(lost.unsearched || lost.no_alias == no_alias, "{name}: {lost:?}");
        lost.no_alias - lost.pairs
    };
    let (open, mixed) = (kept(Some(fixed), false), kept(Some(scalars), true));
    let closed = kept(None, false);
    assert!(closed >= of_clang, "{name}: clang keeps {of_clang}, closed {closed}");
    [tags.len() as u64, no_alias, of_clang, open, mixed, closed]
}

/// Returns the records of a C text, as clang 22 lays them out.
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
        let types = random::records(&mut Rng(seed)).declare(Target::x86_64(), |_| true).unwrap();
        let row = measure(&format!("seed {seed}"), &types);
        random.iter_mut().zip(row).for_each(|(sum, more)| *sum += more);
    }
    print("random, rich in unions", random);
    let ravi = Spec::load(include_str!("../../specs/ravi-declared.ron")).unwrap();
    let ravi = measure("Ravi", ravi.tagged().unwrap().types());
    print("Ravi", ravi);
    assert!(is_better(&random) && is_better(&ravi));
    let Some(_) = Llvm::get() else { return };
    let sources = lua::sources("lua-5.4.9");
    let folder = sources[0].parent().unwrap().to_str().unwrap();
    let text = "#include \"lstate.h\"\n#include \"lobject.h\"\n#include \"lfunc.h\"\n";
    let lua = measure("Lua", &records("lua", text, &["-I", folder]));
    print("Lua 5.4", lua);
    assert!(is_better(&lua));
    // CPython is measured if its header is installed.
    let python = "/usr/include/python3.11";
    if Path::new(python).join("Python.h").exists() {
        let types = records("headers", "#include <Python.h>\n", &["-I", python]);
        print("CPython 3.11", measure("CPython 3.11", &types));
    }
    if std::env::var("TBAA_PROGRAMS").is_ok_and(|value| value == "fetch") {
        let benches = Path::new(tbaa_tests::ROOT).join("benches/sources");
        let folder = crate_folder("libsqlite3-sys", &benches, "--locked").unwrap();
        let text = fs::read_to_string(folder.join("sqlite3/sqlite3.c")).unwrap();
        let sqlite = measure("SQLite", &records("sqlite", &text, &[]));
        print("SQLite 3", sqlite);
        assert!(is_better(&sqlite));
    }
    if let Ok(header) = std::env::var("TBAA_HEADER") {
        let text = fs::read_to_string(&header).unwrap();
        print(&header, measure(&header, &records("given", &text, &[])));
    }
}

#[test]
fn ravi() {
    let built = Spec::load(include_str!("../../specs/ravi-declared.ron")).unwrap();
    let mut tags: Vec<TagId> = built.tags().values().copied().collect();
    tags.extend(built.expectations().flat_map(|one| [one.a, one.b]));
    tags.sort_unstable();
    tags.dedup();
    let oracle = Oracle::new(built.graph(), AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, &tags).unwrap();
    assert_eq!(lowering.check(&oracle), []);
    let loss = lowering.lost();
    println!("{} tags, {loss:?}, kept {:.4}", tags.len(), loss.kept());
    assert!(loss.kept() >= 0.955, "{loss:?}");
}
