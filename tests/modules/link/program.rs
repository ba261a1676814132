//! Compares our linker with LLVM's on a program of at least fifty files.
//!
//! The program is Lua 5.4 and Lua 5.1 together, about thirty files each. Some type names have two
//! bodies. The symbols of Lua 5.1 are renamed, so that LLVM can link both versions.

use std::fs;
use std::path::{Path, PathBuf};

use tbaa::types::{Context, MergedTypes};
use tbaa::{AliasResult, AliasRule, Graph, Oracle, TagId};
use tbaa_check::link::{Linked, NodeMap, Summary};
use tbaa_ir::Module;

use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::lua::sources;

const OPTIONS: [&str; 3] = ["-O1", "-Xclang", "-disable-llvm-passes"];

/// Compiles a version's files. In symbols that start with "lua", `prefix` replaces "lua".
fn compile(llvm: &Llvm, version: &str, prefix: &str) -> Vec<PathBuf> {
    let files = sources(version);
    let one = |source: &PathBuf| {
        let stem = source.file_stem().unwrap().to_string_lossy();
        let text = String::from_utf8(llvm.clang(source, &OPTIONS)).unwrap();
        let text = text.replace("@lua", &format!("@{prefix}"));
        scratch(&format!("link/{version}/{stem}.ll"), text.as_bytes())
    };
    let (left, right) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| right.iter().map(one).collect::<Vec<_>>());
        let mut compiled: Vec<PathBuf> = left.iter().map(one).collect();
        compiled.extend(other.join().unwrap());
        compiled
    })
}

struct Program {
    names: Vec<String>,
    modules: Vec<Module<'static>>,
    linked: Linked,
}

fn program(files: &[PathBuf]) -> Program {
    let modules = files.iter().map(|file| tbaa_ir::read(fs::read(file).unwrap()).unwrap());
    let modules: Vec<Module<'_>> = modules.collect();
    let folder = |file: &Path| file.parent().unwrap().file_name().unwrap().to_owned();
    let names: Vec<String> = files
        .iter()
        .map(|file| Path::new(&folder(file)).join(file.file_name().unwrap()))
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let named: Vec<(&str, &Graph)> =
        names.iter().zip(&modules).map(|(name, module)| (&name[..], module.graph())).collect();
    let linked = Linked::new(&named).unwrap();
    Program { names, modules, linked }
}

/// Returns, for each tag of `linked`, the tag of `theirs` with the same content, if there is one.
fn correspondence(linked: &Linked, theirs: &Graph) -> Vec<Option<TagId>> {
    let (summary, map): (Summary, NodeMap) = Summary::of("linked by LLVM", theirs);
    let (_, maps) = Summary::link(&[linked.summary(), &summary]);
    let place = |tag: TagId| map.then(&maps[1]).place(theirs.tag_node(tag));
    let by_place: std::collections::HashMap<usize, TagId> =
        theirs.tags().filter_map(|tag| Some((place(tag)?, tag))).collect();
    let mut found = vec![None; linked.graph().tag_count()];
    for at in 0..linked.summary().node_count() {
        let tag = linked.node_at(at).and_then(|node| linked.graph().tag_of(node));
        if let Some(tag) = tag {
            let place = maps[0].follow(at);
            found[tag.index()] = place.and_then(|place| by_place.get(&place).copied());
        }
    }
    found
}

#[test]
fn answers_after_our_link_are_llvms_but_for_clashes() {
    let Some(llvm) = Llvm::get() else { return };
    let mut files = compile(llvm, "lua-5.4.9", "lua");
    files.extend(compile(llvm, "lua-5.1.5", "old_lua"));
    assert!(files.len() >= 50, "{}", files.len());
    let Program { names, modules, linked } = program(&files);

    let text = llvm.link(&files);
    let file = scratch("link/program.ll", &text);
    let theirs = tbaa_ir::read(&text).unwrap();
    let rows: Vec<TagId> = theirs.attached_tags();
    let grid: Vec<Vec<u8>> =
        llvm.aa(&["grid"], &file).lines().map(|line| line.as_bytes().to_vec()).collect();
    assert_eq!(grid.len(), rows.len());
    let mut row_of = vec![None; theirs.graph().tag_count()];
    rows.iter().enumerate().for_each(|(row, tag)| row_of[tag.index()] = Some(row));
    let row: Vec<Option<usize>> = correspondence(&linked, theirs.graph())
        .iter()
        .map(|tag| tag.and_then(|tag| row_of[tag.index()]))
        .collect();

    // Across the program, the answer is LLVM's, unless names clash (have two bodies).
    let oracle = linked.oracle(AliasRule::Llvm);
    let tags: Vec<TagId> = linked.graph().tags().filter(|tag| row[tag.index()].is_some()).collect();
    // LLVM was not asked about tags that occur only in `!tbaa.struct` nodes.
    assert!(tags.len() > 500 && tags.len() * 10 > linked.graph().tag_count() * 9);
    let mut widened = 0_usize;
    for &a in &tags {
        for &b in &tags {
            let cell = row[a.index()].zip(row[b.index()]).map(|(a, b)| grid[a][b]);
            let theirs =
                if cell == Some(b'N') { AliasResult::NoAlias } else { AliasResult::MayAlias };
            let ours = oracle.alias(a, b);
            if ours != theirs {
                assert_eq!((ours, theirs), (AliasResult::MayAlias, AliasResult::NoAlias));
                assert!(oracle.clash(a, b), "{a:?} {b:?}");
                widened += 1;
            }
        }
    }
    // Within each module, the answer is the module's own, unless names clash.
    for (at, module) in modules.iter().enumerate() {
        let own = Oracle::new(module.graph(), AliasRule::Llvm);
        let tags = module.attached_tags();
        for &a in &tags {
            for &b in &tags {
                let (x, y) = (linked.tag(at, a), linked.tag(at, b));
                let (before, after) = (own.alias(a, b), oracle.alias(x, y));
                let clash = x.zip(y).is_some_and(|(x, y)| oracle.clash(x, y));
                assert!(
                    before == after || clash && after == AliasResult::MayAlias,
                    "{}",
                    names[at]
                );
            }
        }
    }

    let clashing: Vec<String> = linked
        .clashes()
        .iter()
        .map(|clash| String::from_utf8_lossy(&clash.name).into_owned())
        .collect();
    // Each of these names has one body in Lua 5.4 and another in Lua 5.1.
    for name in ["lua_State", "global_State", "Proto", "Table", "CallInfo"] {
        assert!(clashing.iter().any(|clash| clash == name), "{name} in {clashing:?}");
    }
    let nodes = |graph: &Graph, name: &str| {
        graph.types().filter(|&ty| graph.ty(ty).name() == Some(name.as_bytes())).count()
    };
    for clash in linked.clashes() {
        let name = String::from_utf8_lossy(&clash.name);
        assert_eq!(nodes(theirs.graph(), &name), clash.bodies.len(), "{name}: LLVM keeps both");
    }
    assert!(widened > 1000, "{widened}");

    types(&modules, &linked);
    println!(
        "{} files, {} tags, {} answers widened by {} clashes: {}",
        files.len(),
        tags.len(),
        widened,
        clashing.len(),
        clashing.join(" ")
    );
}

/// Links the struct types of all files, and checks that some names have several types.
fn types(modules: &[Module<'_>], linked: &Linked) {
    let contexts: Vec<Context> = modules
        .iter()
        .map(|module| {
            let mut context = Context::new();
            module.read_types(&mut context).unwrap();
            context
        })
        .collect();
    let merged = MergedTypes::new(&contexts.iter().collect::<Vec<_>>()).unwrap();
    let names: Vec<&[u8]> = merged.clashes().iter().map(|clash| &clash.name[..]).collect();
    for name in ["struct.lua_State", "struct.global_State", "struct.Proto"] {
        assert!(names.contains(&name.as_bytes()), "{name}");
    }
    assert!(linked.summary().modules().len() == modules.len());
    // `lua_State` has two types, that of Lua 5.4 and that of Lua 5.1.
    let states = merged.clashes().iter().find(|clash| clash.name == b"struct.lua_State").unwrap();
    assert_eq!(states.types.len(), 2);
}
