//! Compares the real LLVM's answers on metadata made by `tbaa_lower` with the rule's.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use tbaa::{Access, Graph, Oracle, TagId};
use tbaa_lower::emit::{Attachments, Emitter, Lowered, TextSink};

use super::random::{Program, Way};
use tbaa_tests::llvm::{Evaluated, Llvm, aa_eval, scratch, stored};
use tbaa_tests::random::module_of;
use tbaa_tests::setting;

/// Returns LLVM's answer on each pair of tags, where `N` is `NoAlias`. LLVM's verifier must accept
/// all tags.
pub(crate) fn grid(llvm: &Llvm, what: &str, graph: &Graph, tags: &[TagId]) -> Vec<Vec<u8>> {
    let file = scratch("lower/random.ll", module_of(graph, tags.iter().copied()).as_bytes());
    assert!(llvm.verdicts(&file).into_iter().all(|accepted| accepted), "{what}");
    let rows = llvm.grid(&[], &file);
    assert_eq!(rows.len(), tags.len(), "{what}");
    rows
}

/// Asserts that LLVM is sound on each pair with a lowered access, and returns the number of pairs.
fn ask(llvm: &Llvm, what: &str, program: &Program) -> usize {
    let (all, ours) = program.accesses();
    let mut tags: Vec<TagId> = all.iter().filter_map(|&(_, tag)| tag).collect();
    tags.sort_unstable();
    tags.dedup();
    let rows = grid(llvm, what, program.lowering.graph(), &tags);
    let place = |tag| tags.binary_search(&tag).unwrap();
    let oracle = Oracle::new(&program.source, program.rule);
    let mut pairs = 0;
    for (i, &(a, tag_a)) in all[..ours].iter().enumerate() {
        for (j, &(b, tag_b)) in all.iter().enumerate().skip(i + 1) {
            if !program.meets(a, j, ours) {
                continue;
            }
            pairs += 1;
            let (Some(tag_a), Some(tag_b)) = (tag_a, tag_b) else { continue };
            for (row, column) in [(tag_a, tag_b), (tag_b, tag_a)] {
                let no = rows[place(row)][place(column)] == b'N';
                assert!(!no || !oracle.may_alias(a, b), "{what}: {a:?} and {b:?}");
            }
        }
    }
    pairs
}

#[test]
fn llvm_agrees() {
    let Some(llvm) = Llvm::get() else { return };
    for (way, grown) in Way::ALL.into_iter().flat_map(|way| [(way, false), (way, true)]) {
        let (mut pairs, mut seed) = (0, setting("TBAA_SEED", 1) as u64);
        while pairs < setting("TBAA_PAIRS", 60_000) {
            let what = format!("{way:?}, seed {seed}");
            pairs += ask(llvm, &what, &Program::new(way, seed, grown));
            seed += 1;
        }
        println!("{way:?}, grown {grown}, to seed {seed}: LLVM 22 on {pairs} pairs, none unsound");
    }
}

/// Returns the pairs of stores that an `opt` calls `NoAlias`, by the numbers that they store.
/// `None` if that `opt` is not installed.
fn no_alias(opt: &str, pipeline: &str, file: &Path) -> Option<BTreeSet<(usize, usize)>> {
    let found = aa_eval(opt, &[], pipeline, file)?.into_iter();
    let pair = |evaluated: Evaluated| {
        let [a, b] = evaluated.pair.each_ref().map(|store| stored(store));
        (evaluated.answer == "NoAlias").then(|| (a.min(b), a.max(b)))
    };
    Some(found.filter_map(pair).collect())
}

/// Returns a module with a store for each tag of a random lowering, ours and clang's; the number of
/// pairs with one of ours; and the pairs for which `NoAlias` is sound.
fn tagged(way: Way, seed: u64) -> (String, usize, BTreeSet<(usize, usize)>) {
    let program = Program::new(way, seed, seed.is_multiple_of(2));
    let (all, ours) = program.accesses();
    let ours = all[..ours].iter().filter(|(_, tag)| tag.is_some()).count();
    let all: Vec<_> = all.iter().filter_map(|&(access, tag)| Some((access, tag?))).collect();
    let oracle = Oracle::new(&program.source, program.rule);
    let (mut pairs, mut right) = (0, BTreeSet::new());
    for (i, &(a, _)) in all.iter().enumerate() {
        for (j, &(b, _)) in all.iter().enumerate().skip(i + 1) {
            let asked = i < ours && program.meets(a, j, ours);
            pairs += usize::from(asked);
            if !asked || !oracle.may_alias(a, b) {
                right.insert((i, j));
            }
        }
    }
    (module_of(program.lowering.graph(), all.iter().map(|&(_, tag)| tag)), pairs, right)
}

/// Checks the answers of LLVM 22, 19 and 14, through `opt`, on a tenth of `TBAA_PAIRS` pairs.
#[test]
fn older_llvms_agree() {
    let Some(_) = Llvm::get() else { return };
    let wanted = setting("TBAA_PAIRS", 60_000) / 10;
    let opts = ["opt-22", "opt-19", "opt-14"];
    for (way, opt) in Way::ALL.into_iter().flat_map(|way| opts.map(|opt| (way, opt))) {
        let (mut pairs, mut no, mut seed) = (0, 0, setting("TBAA_SEED", 1) as u64);
        while pairs < wanted {
            let (mut text, more, right) = tagged(way, seed);
            if opt == "opt-14" {
                text = text.replace("ptr %p", "i64* %p");
            }
            let file = scratch("lower/older.ll", text.as_bytes());
            let Some(found) = no_alias(opt, "tbaa", &file) else {
                println!("skipped: there is no {opt}");
                break;
            };
            assert!(found.is_subset(&right), "{opt}, {way:?} {seed}: {:?}", &found - &right);
            pairs += more;
            no += found.len();
            seed += 1;
        }
        println!("{way:?}, {opt}, to seed {seed}: {pairs} pairs, {no} NoAlias, none unsound");
    }
}

/// Returns a module with a store for each access, which has the attachments that `plan` gives.
fn attached(plan: &Lowered<'_, &Graph>, accesses: &[Access]) -> String {
    let mut emitter = Emitter::new(TextSink::default());
    let mut out = String::from("define void @f(ptr %p) {\n");
    for (at, &access) in accesses.iter().enumerate() {
        write!(out, "  store i64 {at}, ptr %p, align 1").unwrap();
        let Attachments { tag, alias_scope, noalias, .. } = emitter.access(plan, access).unwrap();
        for (kind, node) in [("tbaa", tag), ("alias.scope", alias_scope), ("noalias", noalias)] {
            node.into_iter().for_each(|node| write!(out, ", !{kind} !{node}").unwrap());
        }
        out.push('\n');
    }
    out + "  ret void\n}\n\n" + &emitter.sink_mut().take()
}

/// With alias scopes, alone or with tags, LLVM answers like the rule.
#[test]
fn scopes_lose_nothing() {
    let Some(_) = Llvm::get() else { return };
    let (mut seed, mut asked) = (0, 0);
    while asked < 16 {
        seed += 1;
        let Program { source, rule, lowering, .. } = Program::new(Way::Closed, seed, false);
        if !lowering.options().scopes {
            continue;
        }
        asked += 1;
        let oracle = Oracle::new(&source, rule);
        let plan = Lowered::new(&lowering, &oracle);
        let (pipeline, plan) = match asked % 2 {
            0 => ("scoped-noalias-aa", plan.scopes_alone()),
            _ => ("scoped-noalias-aa,tbaa", plan),
        };
        let accesses: Vec<Access> = lowering.sources().collect();
        let text = attached(&plan, &accesses);
        let file = scratch("lower/scoped.ll", text.as_bytes());
        let found = no_alias("opt-22", pipeline, &file).expect("opt-22");
        let pairs = (0..accesses.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let apart = |&(i, j): &(usize, usize)| !oracle.may_alias(accesses[i], accesses[j]);
        let right: BTreeSet<_> = pairs.filter(apart).collect();
        assert_eq!(found, right, "seed {seed}");
    }
}
