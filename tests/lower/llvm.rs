//! The real LLVM on lowered metadata.

use tbaa::{Oracle, TagId, text};

use super::random::{Case, case};
use super::support::llvm::{Llvm, scratch};
use super::support::setting;

/// A module whose store of the number `k` bears the `k`th of the tags.
pub(crate) fn module(graph: &tbaa::Graph, tags: &[TagId]) -> String {
    let metadata = text::write(graph);
    // The first line lists the numbers of the tags.
    let list = metadata.lines().next().unwrap();
    let numbers: Vec<&str> =
        list.split_once('{').unwrap().1.trim_end_matches('}').split(", ").collect();
    let mut out = String::from("define void @f(ptr %p) {\n");
    for (k, tag) in tags.iter().enumerate() {
        let number = numbers[tag.index()];
        out.push_str(&format!("  store i64 {k}, ptr %p, align 1, !tbaa {number}\n"));
    }
    out.push_str("  ret void\n}\n\n");
    out + &metadata
}

/// Asks LLVM itself on each pair of sources that may alias.
fn ask(llvm: &Llvm, seed: u64, case: &Case) -> usize {
    let Case { graph, rules, lowering, accesses } = case;
    let mut tags: Vec<TagId> = accesses.iter().filter_map(|&at| lowering.tag(at)).collect();
    tags.sort_unstable();
    tags.dedup();
    if tags.is_empty() {
        return accesses.len() * (accesses.len() - 1) / 2;
    }
    let source = module(lowering.graph(), &tags);
    let file = scratch("lower/random.ll", source.as_bytes());
    let verdicts = llvm.aa(&["verify"], &file);
    assert!(verdicts.lines().all(|line| line == "accept"), "seed {seed}: {verdicts}");
    let grid = llvm.aa(&["grid"], &file);
    let rows: Vec<&[u8]> = grid.lines().map(str::as_bytes).collect();
    assert_eq!(rows.len(), tags.len(), "seed {seed}");
    let place = |tag| tags.binary_search(&tag).unwrap();
    let oracle = Oracle::new(graph, *rules);
    let mut pairs = 0;
    for (i, &a) in accesses.iter().enumerate() {
        for &b in &accesses[i + 1..] {
            pairs += 1;
            let (Some(tag_a), Some(tag_b)) = (lowering.tag(a), lowering.tag(b)) else { continue };
            for (row, column) in [(tag_a, tag_b), (tag_b, tag_a)] {
                let no = rows[place(row)][place(column)] == b'N';
                assert!(!no || !oracle.may_alias(a, b), "seed {seed}: {a:?} and {b:?}");
            }
        }
    }
    pairs
}

#[test]
fn llvm_agrees_on_random_lowerings() {
    let Some(llvm) = Llvm::get() else { return };
    for grown in [false, true] {
        let wanted = setting("TBAA_PAIRS", 60_000);
        let mut seed = setting("TBAA_SEED", 1) as u64;
        let mut pairs = 0;
        while pairs < wanted {
            pairs += ask(llvm, seed, &case(seed, grown));
            seed += 1;
        }
        println!("grown {grown}, to seed {seed}: LLVM 22 on {pairs} pairs, none unsound");
    }
}
