//! Compares rule `llvm` with LLVM 22, and rule `union` with rule `llvm` where they must agree.
//!
//! `TBAA_LLVM=require` makes a missing LLVM an error. `TBAA_PAIRS` is the least number of pairs of
//! random tags for each format and shape, `TBAA_SEED` the first seed.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use tbaa::wellformed::Verifier;
use tbaa::{AliasRule, Field, Format, Graph, Oracle, Size, TagId, TypeId, TypeKind};
use tbaa_tests::llvm::{Evaluated, Llvm, WAYS, aa_eval, corpus, scratch, stored};
use tbaa_tests::lua;
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// Compares LLVM with this library on each pair of tags of a module. Returns the number of pairs.
fn compare(llvm: &Llvm, what: &str, source: &[u8]) -> usize {
    let file = scratch(&format!("{what}.ll"), source);
    let module = tbaa_ir::read(source).unwrap_or_else(|error| panic!("{what}: {error}"));
    let graph = module.graph();
    let tags = module.attached_tags();
    let oracle = Oracle::new(graph, AliasRule::Llvm);

    let mut verifier = Verifier::new(graph);
    let accepted: Vec<bool> = tags.iter().map(|&tag| verifier.check(tag).is_ok()).collect();
    assert_eq!(accepted, llvm.verdicts(&file), "{what}: verifier's verdicts");
    assert!(accepted.iter().all(|&accepted| accepted), "{what}: all tags should be well-formed");

    let constant = |&tag: &TagId| if oracle.is_constant(tag) { "1" } else { "0" };
    let constant: Vec<_> = tags.iter().map(constant).collect();
    let constants = llvm.aa(&["constant"], &file);
    assert_eq!(constant, constants.lines().collect::<Vec<_>>(), "{what}: constant memory");

    let grid = llvm.grid(&[], &file);
    assert_eq!(grid.len(), tags.len(), "{what}: number of tags");
    for ((i, &a), row) in tags.iter().enumerate().zip(&grid) {
        for ((j, &b), &theirs) in tags.iter().enumerate().zip(row) {
            let ours = if oracle.may_alias(a, b) { b'M' } else { b'N' };
            assert_eq!(ours, theirs, "{what}: tags {i} and {j} in order");
        }
        assert_eq!(row.len(), tags.len(), "{what}: number of tags");
    }
    compare_generic(llvm, what, &file, &oracle, &tags);
    tags.len() * (tags.len() + 1) / 2
}

/// Checks that rules `union` and `llvm` agree on the tags that [`is_plain`] accepts. Returns the
/// number of pairs of such tags.
fn theorem(what: &str, graph: &Graph) -> usize {
    let [llvm, union] = [AliasRule::Llvm, AliasRule::Union].map(|rule| Oracle::new(graph, rule));
    let plain: Vec<_> = graph.tags().filter(|&tag| is_plain(graph, tag)).collect();
    for (&a, &b) in plain.iter().flat_map(|a| plain.iter().map(move |b| (a, b))) {
        assert_eq!(union.alias(a, b), llvm.alias(a, b), "{what}: {}", union.explain(a, b));
    }
    plain.len() * (plain.len() + 1) / 2
}

/// Returns whether a tag accesses one whole scalar, through types whose fields do not overlap.
fn is_plain(graph: &Graph, tag: TagId) -> bool {
    let tag = graph.tag(tag).unwrap();
    let access = graph.ty(tag.access);
    let one = tag.format == Format::Old || tag.size == access.size().map(Size::from);
    one && access.kind() == TypeKind::Scalar && has_plain_fields(graph, tag.base)
}

fn has_plain_fields(graph: &Graph, ty: TypeId) -> bool {
    let node = graph.ty(ty);
    if node.kind() != TypeKind::Aggregate {
        return true;
    }
    let fields: Vec<_> = node.fields().collect();
    let end = |of: &Field| of.offset + of.extent.unwrap_or(1);
    let apart = fields.windows(2).all(|pair| end(&pair[0]) <= pair[1].offset);
    let inside = |field| node.size().is_none_or(|size| end(field) <= size);
    apart && fields.iter().all(|field| inside(field) && has_plain_fields(graph, field.ty))
}

/// Compares `most_generic_as_written` with LLVM's `getMostGenericTBAA`, except for immutability.
fn compare_generic(llvm: &Llvm, what: &str, file: &Path, oracle: &Oracle<&Graph>, tags: &[TagId]) {
    // LLVM prints a line for each ordered pair: modules with more than 100 tags are skipped.
    if tags.len() > 100 {
        return;
    }
    let graph = oracle.graph();
    let printed = llvm.aa(&["generic"], file);
    let mut lines = printed.lines();
    for &a in tags {
        for &b in tags {
            let line = lines.next().unwrap();
            if line == "rejected" {
                continue;
            }
            let Some((tag, size)) = oracle.most_generic_as_written(a, b) else {
                assert_eq!(line, "none", "{what}: {a:?} {b:?}");
                continue;
            };
            let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or(b"!"));
            let mut ours = format!("{}\t{}\t{}", name(tag.base), name(tag.access), tag.offset);
            ours.extend(size.map(|size| format!("\t{size}")));
            let operands = if tag.format == Format::Old { 3 } else { 4 };
            let theirs: Vec<_> = line.split('\t').take(operands).collect();
            assert_eq!(ours, theirs.join("\t"), "{what}: most generic of {a:?} and {b:?}");
            assert_eq!(tag.immutable, oracle.is_constant(a) && oracle.is_constant(b));
        }
    }
    assert_eq!(lines.next(), None, "{what}");
}

fn round_trip(llvm: &Llvm, what: &str, graph: &Graph) {
    let dumped = tbaa_ir::write(graph);
    llvm.assemble(&format!("{what}.dump.ll"), &dumped);
    let again = tbaa_ir::read(dumped.as_bytes()).unwrap();
    assert_eq!(again.graph(), graph, "{what}: read(write(graph)) is another graph");
}

#[test]
fn compiled_programs() {
    let Some(llvm) = Llvm::get() else { return };
    let sources = corpus();
    let (mut pairs, mut alike) = (0, 0);
    for (at, source) in sources.iter().enumerate() {
        let stem = source.file_stem().unwrap().to_string_lossy();
        // The last two of `WAYS` optimise, which adds few new tags: every third file is enough.
        for (way, options) in &WAYS[..if at % 3 == 0 { 4 } else { 2 }] {
            let what = format!("corpus/{stem}-{way}");
            let text = llvm.clang(source, options);
            pairs += compare(llvm, &what, &text);
            let module = tbaa_ir::read(&text).unwrap();
            alike += theorem(&what, module.graph());
            round_trip(llvm, &what, module.graph());
        }
    }
    println!("{} sources, 2 to 4 ways each: {pairs} pairs, no difference", sources.len());
    assert!(alike * 4 > pairs, "{alike} of {pairs}: the theorem hardly applies");
}

#[test]
fn lua() {
    let Some(llvm) = Llvm::get() else { return };
    let sources = lua::sources("lua-5.4.9");
    assert!(sources.len() > 25, "Lua's sources: {sources:?}");
    for (way, options) in &WAYS[..2] {
        let files: Vec<_> = sources
            .iter()
            .map(|source| {
                let stem = source.file_stem().unwrap().to_string_lossy();
                scratch(&format!("lua/{stem}-{way}.ll"), &llvm.clang(source, options))
            })
            .collect();
        let linked = llvm.link(&files);
        let what = format!("lua/all-{way}");
        let pairs = compare(llvm, &what, &linked);
        round_trip(llvm, &what, tbaa_ir::read(&linked).unwrap().graph());
        println!("Lua, {} files, {way}: {pairs} pairs, no difference", files.len());
        // The most generic tags are compared for one file, because the program has too many pairs.
        let lstring = sources.iter().find(|source| source.ends_with("lstring.c")).unwrap();
        compare(llvm, &format!("lua/lstring-{way}"), &llvm.clang(lstring, options));
    }
}

#[test]
fn random_graphs() {
    let Some(llvm) = Llvm::get() else { return };
    let wanted = setting("TBAA_PAIRS", 250_000);
    let first_seed = setting("TBAA_SEED", 1);
    for (format, shape) in [
        (Format::Old, Shape::Any),
        (Format::New, Shape::Any),
        (Format::Old, Shape::PlainScalars),
        (Format::New, Shape::PlainScalars),
        (Format::New, Shape::PlainAggregates),
    ] {
        let (mut pairs, mut alike, mut seed) = (0, 0, first_seed);
        while pairs < wanted {
            let mut rng = Rng(seed as u64);
            let tags = if seed % 5 == 0 { 60 } else { 200 };
            let universe = Universe { format, structs: 4 + rng.below(40), tags, shape };
            let graph = random::graph(&mut rng, &universe);
            let what = format!("random/{format:?}-{seed}");
            pairs += compare(llvm, &what, random::module(&graph).as_bytes());
            // With `Shape::Any`, an ancestor of a struct need not be an ancestor of its fields.
            alike += if shape == Shape::Any { 0 } else { theorem(&what, &graph) };
            round_trip(llvm, &what, &graph);
            let _ = fs::remove_file(scratch(&format!("{what}.ll"), b""));
            let _ = fs::remove_file(scratch(&format!("{what}.dump.ll"), b""));
            seed += 1;
        }
        assert!(shape != Shape::PlainScalars || alike == pairs);
        println!("{format:?} format, seeds {first_seed}..{seed}: {pairs} pairs, no difference");
    }
}

/// LLVM's own pass `aa-eval`, run by `opt`, shares no code with the program that the other
/// comparisons use.
#[test]
fn aa_eval_agrees() {
    let Some(_) = Llvm::get() else { return };
    for (seed, format) in [(1, Format::Old), (2, Format::New)] {
        let universe = Universe { format, structs: 20, tags: 80, shape: Shape::Any };
        let graph = random::graph(&mut Rng(seed), &universe);
        let source = random::module(&graph);
        let module = tbaa_ir::read(source.as_bytes()).unwrap();
        let tags = module.attached_tags();
        let oracle = Oracle::new(module.graph(), AliasRule::Llvm);
        let file = scratch(&format!("aa-eval-{seed}.ll"), source.as_bytes());
        let found = aa_eval("opt-22", &[], "tbaa", &file).expect("opt-22");
        for Evaluated { answer, pair, .. } in &found {
            let [a, b] = pair.each_ref().map(|store| tags[stored(store)]);
            assert_eq!(oracle.alias(a, b).to_string(), *answer, "seed {seed}: {pair:?}");
        }
        assert_eq!(found.len(), tags.len() * (tags.len() - 1) / 2);
        println!("aa-eval, {format:?} format, seed {seed}: {} pairs, no difference", found.len());
    }
}
