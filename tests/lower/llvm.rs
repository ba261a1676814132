//! The real LLVM on lowered metadata.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use tbaa::{Access, Graph, Oracle, TagId};
use tbaa_lower::Lowering;

use super::random::{Program, Way};
use tbaa_tests::llvm::{Evaluated, Llvm, aa_eval, scratch, stored};
use tbaa_tests::random::{module_of, numbers};
use tbaa_tests::setting;

/// LLVM's answer to each pair of tags, which its verifier must accept: `N` is
/// `NoAlias`.
pub(crate) fn grid(llvm: &Llvm, what: &str, graph: &Graph, tags: &[TagId]) -> Vec<String> {
    let file = scratch("lower/random.ll", module_of(graph, tags.iter().copied()).as_bytes());
    let verdicts = llvm.aa(&["verify"], &file);
    assert!(verdicts.lines().all(|line| line == "accept"), "{what}: {verdicts}");
    let rows: Vec<String> = llvm.aa(&["grid"], &file).lines().map(str::to_owned).collect();
    assert_eq!(rows.len(), tags.len(), "{what}");
    rows
}

/// Asks LLVM itself on each pair of one of our accesses with any that it may meet.
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
                let no = rows[place(row)].as_bytes()[place(column)] == b'N';
                assert!(!no || !oracle.may_alias(a, b), "{what}: {a:?} and {b:?}");
            }
        }
    }
    pairs
}

fn agrees(way: Way) {
    let Some(llvm) = Llvm::get() else { return };
    for grown in [false, true] {
        let wanted = setting("TBAA_PAIRS", 60_000);
        let mut seed = setting("TBAA_SEED", 1) as u64;
        let mut pairs = 0;
        while pairs < wanted {
            let what = format!("{way:?}, seed {seed}");
            pairs += ask(llvm, &what, &Program::new(way, seed, grown));
            seed += 1;
        }
        println!("{way:?}, grown {grown}, to seed {seed}: LLVM 22 on {pairs} pairs, none unsound");
    }
}

#[test]
fn llvm_agrees_on_closed_lowerings() {
    agrees(Way::Closed);
}

#[test]
fn llvm_agrees_on_open_lowerings() {
    agrees(Way::Open);
}

#[test]
fn llvm_agrees_on_mixed_lowerings() {
    agrees(Way::Mixed);
}

/// The pairs of stores that an `opt` calls `NoAlias`, by the numbers stored.
/// `None` if there is no such program.
fn no_alias(opt: &str, pipeline: &str, file: &Path) -> Option<BTreeSet<(usize, usize)>> {
    let found = aa_eval(opt, &[], pipeline, file)?.into_iter();
    let pair = |evaluated: Evaluated| {
        let [a, b] = evaluated.pair.each_ref().map(|store| stored(store));
        (evaluated.answer == "NoAlias").then(|| (a.min(b), a.max(b)))
    };
    Some(found.filter_map(pair).collect())
}

/// The pairs that the rule calls `NoAlias`, by the places in the list.
fn expected(oracle: &Oracle<&Graph>, accesses: &[Access]) -> BTreeSet<(usize, usize)> {
    let len = accesses.len();
    let pairs = (0..len).flat_map(|i| (i + 1..len).map(move |j| (i, j)));
    pairs.filter(|&(i, j)| !oracle.may_alias(accesses[i], accesses[j])).collect()
}

/// The questions to an older LLVM about one random lowering.
struct Asked {
    /// A store for each tag.
    module: String,
    /// The pairs that are counted.
    pairs: usize,
    /// The pairs that may be `NoAlias`.
    right: BTreeSet<(usize, usize)>,
}

impl Asked {
    /// Our tags with ours and with clang's.
    fn new(way: Way, seed: u64) -> Asked {
        let program = Program::new(way, seed, seed.is_multiple_of(2));
        let (all, ours) = program.accesses();
        let tagged = |&(access, tag): &(Access, Option<TagId>)| Some((access, tag?));
        let ours = all[..ours].iter().filter_map(tagged).count();
        let all: Vec<(Access, TagId)> = all.iter().filter_map(tagged).collect();
        let tags: Vec<TagId> = all.iter().map(|&(_, tag)| tag).collect();
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
        let module = module_of(program.lowering.graph(), tags.into_iter());
        Asked { module, pairs, right }
    }
}

/// Asks LLVM 22, 19 and 14 by `opt`, on a tenth of the pairs.
fn older_agree(way: Way) {
    if Llvm::get().is_none() {
        return;
    }
    let wanted = setting("TBAA_PAIRS", 60_000) / 10;
    for opt in ["opt-22", "opt-19", "opt-14"] {
        let (mut pairs, mut no, mut seed) = (0, 0, setting("TBAA_SEED", 1) as u64);
        while pairs < wanted {
            let Asked { module: mut text, pairs: more, right } = Asked::new(way, seed);
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

#[test]
fn older_llvms_agree_on_closed_lowerings() {
    older_agree(Way::Closed);
}

#[test]
fn older_llvms_agree_on_open_lowerings() {
    older_agree(Way::Open);
}

#[test]
fn older_llvms_agree_on_mixed_lowerings() {
    older_agree(Way::Mixed);
}

/// Returns a module whose stores have tags and scopes.
fn scoped_module(lowering: &Lowering, accesses: &[Access], tagged: bool) -> String {
    // Far beyond the numbers of the tags' nodes.
    const FIRST: usize = 1_000_000;
    let metadata = tbaa_ir::write(lowering.graph());
    let numbers = numbers(&metadata);
    let names = lowering.scope_names();
    let mut lists = format!("!{FIRST} = !{{!\"{}\"}}\n", lowering.scope_domain());
    for (at, name) in names.iter().enumerate() {
        writeln!(lists, "!{} = !{{!\"{name}\", !{FIRST}}}", FIRST + 1 + at).unwrap();
    }
    let mut out = String::from("define void @f(ptr %p) {\n");
    let mut next = FIRST + 1 + names.len();
    for (at, &access) in accesses.iter().enumerate() {
        write!(out, "  store i64 {at}, ptr %p, align 1").unwrap();
        if let Some(tag) = lowering.tag(access).filter(|_| tagged) {
            write!(out, ", !tbaa {}", numbers[tag.index()]).unwrap();
        }
        if let Some(scopes) = lowering.scopes_of(access) {
            let apart: Vec<String> =
                scopes.noalias().map(|of| format!("!{}", FIRST + 1 + of as usize)).collect();
            writeln!(lists, "!{next} = !{{!{}}}", FIRST + 1 + scopes.scope as usize).unwrap();
            writeln!(lists, "!{} = !{{{}}}", next + 1, apart.join(", ")).unwrap();
            write!(out, ", !alias.scope !{next}, !noalias !{}", next + 1).unwrap();
            next += 2;
        }
        out.push('\n');
    }
    out + "  ret void\n}\n\n" + &metadata + &lists
}

/// With scopes, alone or with tags, LLVM answers like the rule.
#[test]
fn scopes_lose_nothing() {
    if Llvm::get().is_none() {
        return;
    }
    let (mut seed, mut asked) = (0, 0);
    while asked < 16 {
        seed += 1;
        let Program { source, rule, lowering, .. } = Program::new(Way::Closed, seed, false);
        if !lowering.options().scopes {
            continue;
        }
        asked += 1;
        let (pipeline, tagged) = match asked % 2 {
            0 => ("scoped-noalias-aa", false),
            _ => ("scoped-noalias-aa,tbaa", true),
        };
        let accesses: Vec<Access> = lowering.sources().collect();
        let text = scoped_module(&lowering, &accesses, tagged);
        let file = scratch("lower/scoped.ll", text.as_bytes());
        let found = no_alias("opt-22", pipeline, &file).expect("opt-22");
        let right = expected(&Oracle::new(&source, rule), &accesses);
        assert_eq!(found, right, "seed {seed}");
    }
}
