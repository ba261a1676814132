//! Ill-formed metadata: compares our verifier and rule `llvm` with LLVM 22, on modules
//! with damaged operands and on random modules.
//!
//! LLVM crashes, or recurses without end, on some tags that its verifier accepts. If it does so on
//! a pair of tags in either order, our answer must be `MayAlias` in both orders.

use tbaa::wellformed::Verifier;
use tbaa::{AliasRule, Graph, Oracle, TypeKind};
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::universe::{self, Taste};
use tbaa_tests::{Rng, damage, files, random, setting};

use super::verify::well_formed;

#[derive(Default, Debug)]
struct Tally {
    modules: usize,
    /// Modules on which the program that asks LLVM is killed, and not only a process that it forks.
    killed: usize,
    tags: usize,
    rejected: usize,
    pairs: usize,
    no_alias: usize,
    /// Pairs on which LLVM crashes.
    crashes: usize,
    /// Pairs that are `NoAlias` for LLVM but not for us, in modules with malformed types.
    undefined: usize,
}

impl Tally {
    fn report(&self) {
        println!("{self:?}");
        let Tally { modules, killed, tags, rejected, no_alias, .. } = *self;
        assert!(rejected > 0 && rejected < tags && no_alias > 0);
        assert!(killed <= 1 + modules / 100, "LLVM itself dies on {killed} modules");
    }

    /// Compares verdicts and answers, and writes the module and reads it again.
    fn compare(&mut self, llvm: &Llvm, what: &str, source: &str) {
        self.modules += 1;
        let file = scratch(&format!("{what}.ll"), source.as_bytes());
        let answers = ["verify", "grid"].map(|c| llvm.aa_unless_killed(&[c, "--fork"], &file));
        let [Some(verdicts), Some(grid)] = answers else {
            self.killed += 1;
            return;
        };
        let module = tbaa_ir::read(source.as_bytes());
        let module = module.unwrap_or_else(|error| panic!("{what}: {error}\n{source}"));
        let graph = module.graph();
        let tags = module.attached_tags();
        let verdicts: Vec<_> = verdicts.lines().collect();
        assert_eq!(tags.len(), verdicts.len(), "{what}: number of tags\n{source}");
        let mut verifier = Verifier::new(graph);
        for (i, (&tag, verdict)) in tags.iter().zip(&verdicts).enumerate() {
            let ours = verifier.check(tag);
            // `C`: LLVM's verifier itself crashed, on a null operand.
            let agrees = *verdict == "C" || ours.is_ok() == (*verdict == "accept");
            assert!(agrees, "{what}, tag {i}: here {ours:?}, LLVM: {verdict}\n{source}");
            self.rejected += usize::from(ours.is_err());
        }
        self.tags += tags.len();

        let grid: Vec<&[u8]> = grid.lines().map(str::as_bytes).collect();
        let oracle = Oracle::new(graph, AliasRule::Llvm);
        let malformed = graph.types().any(|ty| graph.ty(ty).kind() == TypeKind::Malformed);
        for (i, &a) in tags.iter().enumerate() {
            for (j, &b) in tags.iter().enumerate().skip(i) {
                let cells = [grid[i][j], grid[j][i]];
                let mut expected = cells != [b'N', b'N'];
                self.crashes += usize::from(cells.contains(&b'C'));
                // In a malformed type, LLVM takes any operand for a node. A build with assertions
                // stops there. Debian's build continues, and its answer is arbitrary.
                if !expected && malformed && oracle.may_alias(a, b) {
                    expected = true;
                    self.undefined += 1;
                }
                let (ours, theirs) = ([(a, b), (b, a)], cells.map(char::from));
                let ours = ours.map(|(a, b)| oracle.may_alias(a, b));
                assert_eq!(ours, [expected; 2], "{what}, {i} and {j}: LLVM {theirs:?}\n{source}");
                let explained = oracle.explain(a, b).answer;
                assert_eq!(explained, oracle.alias(a, b), "{what}: explained");
                self.pairs += 1;
                self.no_alias += usize::from(!expected);
            }
        }
        let dumped = tbaa_ir::write(graph);
        let again = tbaa_ir::read(dumped.as_bytes()).unwrap();
        assert_eq!(again.graph(), graph, "{what}: a node is lost\n{source}");
        let _ = std::fs::remove_file(file);
    }
}

#[test]
fn damaged_modules() {
    let Some(llvm) = Llvm::get() else { return };
    let first_seed = setting("TBAA_SEED", 1);
    let mut tally = Tally::default();
    for seed in first_seed..first_seed + setting("TBAA_DAMAGED", 80) {
        let mut rng = Rng(seed as u64);
        let (mut lines, tags) = well_formed(&mut rng, 6);
        damage::nodes(&mut rng, &mut lines, true);
        let source = random::stores("f", tags) + &lines.join("\n") + "\n";
        tally.compare(llvm, &format!("damaged-{seed}"), &source);
    }
    tally.report();
}

#[test]
fn wild_modules() {
    let Some(llvm) = Llvm::get() else { return };
    let first_seed = setting("TBAA_SEED", 1);
    let mut tally = Tally::default();
    for seed in first_seed..first_seed + setting("TBAA_DAMAGED", 80) {
        let mut rng = Rng(seed as u64);
        let types = 4 + rng.below(6);
        let source = random::wild(&mut rng, types, 30, false);
        tally.compare(llvm, &format!("wild-{seed}"), &source);
    }
    tally.report();
}

#[test]
fn generated_graphs() {
    let Some(llvm) = Llvm::get() else { return };
    let seed = setting("TBAA_SEED", 1);
    let mut rng = Rng(seed as u64);
    let mut tally = Tally::default();
    for module in 0..setting("TBAA_MODULES", 12) {
        let mut graph = Graph::new();
        for number in 0..25 {
            let mut u = universe::random(&mut rng, number % 2 == 0, Taste::Mixed);
            for root in u.types.iter_mut().filter(|ty| ty.root) {
                root.name += &format!(" of {number}");
            }
            u.add_to(&mut graph);
        }
        let what = format!("seed {seed}, module {module}");
        tally.compare(llvm, &what, &random::module(&graph));
    }
    tally.report();
}

#[test]
fn regressions() {
    let Some(llvm) = Llvm::get() else { return };
    let files = files("specs/regressions", &["ll"]);
    assert!(!files.is_empty());
    for file in files {
        let graph = tbaa_ir::read(std::fs::read(&file).unwrap()).unwrap().into_graph();
        Tally::default().compare(llvm, "regression", &random::module(&graph));
    }
}
