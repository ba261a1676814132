//! Compares rule `llvm` with LLVM 22 on the graphs of small *universes* (types and their tags).
//!
//! Every 1,499th graph (size-aware: 499th) from number `TBAA_SMALL_FROM` on is compared, or all by
//! `TBAA_SMALL=1 cargo test --release -p tbaa-tests --test llvm small -- --nocapture`.

use tbaa::wellformed::Verifier;
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::random::{numbers, stores};
use tbaa_tests::small::{Shape, share, universe};
use tbaa_tests::universe::Universe;

/// The number of universes in one module, which has a function for each.
const AT_ONCE: usize = 500;

#[derive(Default, Debug)]
struct Tally {
    tags: usize,
    rejected: usize,
    /// Ordered pairs of accepted tags.
    pairs: usize,
    no: usize,
    /// Pairs on which LLVM crashes.
    crashes: usize,
}

/// Returns a module with a function for each universe. The function has a store for each tag.
fn module(universes: &[Universe]) -> String {
    let mut graph = Graph::new();
    let tags: Vec<_> = universes.iter().map(|u| u.add_to(&mut graph)).collect();
    let metadata = tbaa_ir::write(&graph);
    let numbers = numbers(&metadata);
    let numbered = |tags: Vec<TagId>| tags.into_iter().map(|tag| numbers[tag.index()]);
    let functions = tags.into_iter().enumerate();
    let functions = functions.map(|(at, tags)| stores(&format!("f{at}"), numbered(tags)));
    functions.collect::<String>() + "\n" + &metadata
}

impl Tally {
    /// Compares one universe with LLVM's line about it: a verdict for each tag, and then an answer
    /// for each pair of accepted tags.
    fn compare(&mut self, u: &Universe, line: &str) {
        let (graph, tags) = u.graph();
        let show = |at: usize| u.show_tag(&u.tags[at]);
        let (verdicts, answers) = line.split_at(tags.len());
        let mut verifier = Verifier::new(&graph);
        let mut good = Vec::new();
        for (at, verdict) in verdicts.bytes().enumerate() {
            let accepted = verifier.check(tags[at]).is_ok();
            assert_eq!(accepted, verdict == b'A', "{}\n{u:?}", show(at));
            good.extend(accepted.then_some(at));
        }
        self.tags += tags.len();
        self.rejected += tags.len() - good.len();
        assert_eq!(answers.len(), good.len() * good.len());
        let oracle = Oracle::new(&graph, AliasRule::Llvm);
        for (i, row) in answers.as_bytes().chunks(good.len().max(1)).enumerate() {
            for (j, &answer) in row.iter().enumerate() {
                let may = oracle.may_alias(tags[good[i]], tags[good[j]]);
                // LLVM may crash on one order of a pair, and answer on the other.
                let theirs = [answer, answers.as_bytes()[j * good.len() + i]] != [b'N', b'N'];
                let (a, b) = (show(good[i]), show(good[j]));
                assert_eq!(may, theirs, "{a} and {b}\n{u:?}");
                self.crashes += usize::from(answer == b'C');
                self.no += usize::from(!may);
            }
        }
        self.pairs += answers.len();
    }
}

fn all(types: usize, sized: bool, step: usize) {
    let Some(llvm) = Llvm::get() else { return };
    let graphs = share(types, sized, step);
    let mut tally = Tally::default();
    for some in graphs.chunks(AT_ONCE) {
        let some: Vec<_> = some.iter().map(|shapes: &Vec<Shape>| universe(shapes, sized)).collect();
        // Several processes may run this test at the same time.
        let name = format!("small-{}.ll", std::process::id());
        let file = scratch(&name, module(&some).as_bytes());
        let printed = llvm.aa(&["functions", "--fork"], &file);
        let _ = std::fs::remove_file(file);
        assert_eq!(printed.lines().count(), some.len());
        some.iter().zip(printed.lines()).for_each(|(u, line)| tally.compare(u, line));
    }
    println!("sized {sized}: {} graphs, {tally:?}", graphs.len());
    let Tally { tags, rejected, pairs, no, .. } = tally;
    assert!(rejected > 0 && rejected < tags && no > 0 && no < pairs);
}

#[test]
fn old_format() {
    all(4, false, 1_499);
}

#[test]
fn size_aware() {
    all(3, true, 499);
}
