//! The union rules compared with LLVM 22: where they must agree, and where LLVM is wrong.

use tbaa::explain::Clause;
use tbaa::{AliasRule, Format, Graph, Oracle, Size, TagId, TypeId, TypeKind};
use tbaa_tests::llvm::{Llvm, WAYS, corpus, scratch};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// LLVM's letters for the attached tags of a module.
fn letters(llvm: &Llvm, what: &str, source: &[u8]) -> Vec<Vec<u8>> {
    let grid = llvm.aa(&["grid"], &scratch(&format!("{what}.ll"), source));
    grid.lines().map(|line| line.as_bytes().to_vec()).collect()
}

/// The documented theorem: without overlapping fields, and with scalar accesses only, rule `union`
/// answers like LLVM.
#[test]
fn without_overlap_union_is_what_llvm_answers() {
    let Some(llvm) = Llvm::get() else { return };
    let wanted = setting("TBAA_PAIRS", 100_000);
    let first_seed = setting("TBAA_SEED", 1);
    for format in [Format::Old, Format::New] {
        let (mut pairs, mut seed) = (0, first_seed);
        while pairs < wanted {
            let mut rng = Rng(seed as u64);
            let shape = Shape::PlainScalars;
            let universe = Universe { format, structs: 4 + rng.below(30), tags: 150, shape };
            let graph = random::graph(&mut rng, &universe);
            let source = random::module(&graph);
            let module = tbaa_ir::read(source.as_bytes()).unwrap();
            let what = format!("theorem-{format:?}");
            pairs += agree(llvm, &what, &module, &module.attached_tags());
            seed += 1;
        }
        println!("{format:?} format, seeds {first_seed}..{seed}: union = LLVM on {pairs} pairs");
    }
}

#[test]
fn clang_modules_without_overlap() {
    let Some(llvm) = Llvm::get() else { return };
    let (mut pairs, mut tags_left, mut tags_all) = (0, 0, 0);
    for source in corpus() {
        let stem = source.file_stem().unwrap().to_string_lossy();
        for (way, options) in &WAYS[..2] {
            let source = llvm.clang(&source, options);
            let module = tbaa_ir::read(&source).unwrap();
            let all = module.attached_tags();
            let graph = module.graph();
            let tags: Vec<_> = all.iter().copied().filter(|&tag| is_plain(graph, tag)).collect();
            tags_all += all.len();
            tags_left += tags.len();
            pairs += agree(llvm, &format!("plain-{stem}-{way}"), &module, &tags);
        }
    }
    assert!(tags_left * 2 > tags_all, "{tags_left} of {tags_all}: the theorem hardly applies");
    println!("corpus: union = LLVM on {pairs} pairs of {tags_left} among {tags_all} tags");
}

/// Compares rule `union` with LLVM on some of a module's tags.
fn agree(llvm: &Llvm, what: &str, module: &tbaa_ir::Module<'_>, tags: &[TagId]) -> usize {
    let letters = letters(llvm, what, module.text());
    let all = module.attached_tags();
    let place = |tag| all.iter().position(|&other| other == tag).unwrap();
    let places: Vec<_> = tags.iter().map(|&tag| place(tag)).collect();
    let union = Oracle::new(module.graph(), AliasRule::Union);
    let mut pairs = 0;
    for (&a, &row) in tags.iter().zip(&places) {
        for (&b, &column) in tags.iter().zip(&places) {
            let ours = if union.may_alias(a, b) { b'M' } else { b'N' };
            let theirs = letters[row][column];
            assert_eq!(
                ours as char,
                theirs as char,
                "{what}: tags {row} and {column}: {}",
                union.explain(a, b)
            );
            pairs += usize::from(row <= column);
        }
    }
    pairs
}

/// Returns whether a tag accesses one whole scalar, through types whose fields do not
/// overlap.
fn is_plain(graph: &Graph, tag: TagId) -> bool {
    let tag = graph.tag(tag).unwrap();
    let access = graph.ty(tag.access);
    let one = tag.format == Format::Old || tag.size == access.size().map(Size::from);
    one && access.kind() == TypeKind::Scalar && has_plain_fields(graph, tag.base)
}

fn has_plain_fields(graph: &Graph, ty: TypeId) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        let node = graph.ty(ty);
        if node.kind() != TypeKind::Aggregate {
            continue;
        }
        let fields: Vec<_> = node.fields().collect();
        let apart = fields.windows(2).all(|pair| {
            let end = pair[0].extent.map_or(pair[0].offset + 1, |size| pair[0].offset + size);
            end <= pair[1].offset
        });
        let inside = fields.iter().all(|field| {
            let end = field.extent.map(|extent| field.offset + extent);
            end.zip(node.size()).is_none_or(|(end, size)| end <= size)
        });
        if !apart || !inside {
            return false;
        }
        work.extend(fields.iter().map(|field| field.ty));
    }
    true
}

/// LLVM ignores sizes. It says that two accesses share no byte, although they do: the optimizer may
/// reorder them, and the program is miscompiled.
#[test]
fn pairs_that_llvm_would_miscompile() {
    let Some(llvm) = Llvm::get() else { return };
    let (mut pairs, mut wrong, mut seed) = (0, 0, 1);
    let mut example = None;
    while pairs < setting("TBAA_PAIRS", 100_000) {
        let mut rng = Rng(seed as u64);
        let universe = Universe {
            format: Format::New,
            structs: 3 + rng.below(12),
            tags: 80,
            shape: Shape::PlainAggregates,
        };
        let graph = random::graph(&mut rng, &universe);
        let source = random::module(&graph);
        let module = tbaa_ir::read(source.as_bytes()).unwrap();
        let tags = module.attached_tags();
        let letters = letters(llvm, "miscompiled", source.as_bytes());
        let union = Oracle::new(module.graph(), AliasRule::Union);
        for (i, &a) in tags.iter().enumerate() {
            for (j, &b) in tags.iter().enumerate().skip(i) {
                pairs += 1;
                if letters[i][j] == b'N' {
                    let why = union.explain(a, b);
                    if why.clause == Clause::Overlap {
                        wrong += 1;
                        example.get_or_insert_with(|| format!("seed {seed}, tags {i}, {j}: {why}"));
                    }
                }
            }
        }
        seed += 1;
    }
    println!(
        "{wrong} of {pairs} pairs share bytes though LLVM answers NoAlias; the first:\n{}",
        example.unwrap()
    );
    assert!(wrong > 0);
}
