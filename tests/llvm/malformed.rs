//! Ill-formed metadata: compares the verifier's verdict and rule `llvm` with LLVM 22, on modules
//! whose nodes were damaged operand by operand.
//!
//! LLVM crashes, or recurses without end, on some tags that its verifier accepts. Such a pair is
//! `MayAlias` here, in both orders.

use tbaa::wellformed::Verifier;
use tbaa::{AliasRule, Format, Oracle, TypeKind};
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, damage, setting};

/// Damages up to a few operands of the nodes that a module's text defines.
fn damaged(rng: &mut Rng, module: &str) -> String {
    let mut lines: Vec<String> = module.lines().map(str::to_owned).collect();
    let numbered = |line: &str| line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let nodes: Vec<usize> =
        (0..lines.len()).filter(|&i| lines[i].starts_with('!') && numbered(&lines[i])).collect();
    for _ in 0..1 + rng.below(4) {
        let line = &mut lines[*rng.pick(&nodes)];
        let Some((head, mut operands)) = damage::operands(line) else { continue };
        let is_tag = operands.first().is_some_and(|first| first.starts_with("!"))
            && operands.get(1).is_some_and(|second| second.starts_with("!"));
        // LLVM's own reader crashes on an attached node whose first operand is null or missing.
        let first = usize::from(is_tag);
        if operands.len() <= first {
            continue;
        }
        let at = first + rng.below(operands.len() - first);
        let other = format!("!{}", rng.below(nodes.len()));
        match rng.below(9) {
            0 => operands[at] = other,
            1 => operands[at] = format!("i64 {}", rng.below(24)),
            2 => operands[at] = format!("i32 {}", 4 * rng.below(3)),
            3 => operands[at] = "!\"string\"".to_owned(),
            4 if at > 0 => operands[at] = "i1 true".to_owned(),
            5 => operands.insert(at, other),
            6 if operands.len() > 1 => {
                operands.remove(at);
            }
            7 => operands.push(format!("i64 {}", rng.below(9))),
            _ => operands[at] = rng.pick(&operands).clone(),
        }
        *line = damage::node(rng, head, &operands);
    }
    lines.join("\n") + "\n"
}

/// Returns a module of a few types that refer to one another arbitrarily, in either format or both,
/// with scalars under aggregates, several roots in one type, scalars without size, and recursive
/// types.
fn wild(rng: &mut Rng) -> String {
    const TAGS: usize = 30;
    let types = 4 + rng.below(6);
    let (cyclic, mixed, all_new) = (rng.one_in(4), rng.one_in(4), rng.one_in(2));
    let mut metadata = String::new();
    let mut size_aware = vec![false; types];
    let mut fields_of: Vec<Vec<(usize, usize)>> = vec![Vec::new(); types];
    for (ty, size_aware) in size_aware.iter_mut().enumerate() {
        let number = TAGS + ty;
        let pool = if cyclic && rng.one_in(3) { types } else { ty.max(1) };
        let mut other = || TAGS + rng.below(pool);
        let (parent, field_types) = (other(), [other(), other(), other()]);
        if ty == 0 || ty == 1 && rng.one_in(3) {
            metadata += &format!("!{number} = !{{!\"root {ty}\"}}\n");
            continue;
        }
        *size_aware = if mixed { rng.one_in(2) } else { all_new };
        let count = *rng.pick(&[0, 0, 1, 2, 3]);
        let mut offsets: Vec<_> = (0..count).map(|_| *rng.pick(&[0, 0, 0, 4, 4, 8])).collect();
        offsets.sort_unstable();
        let fields = field_types.iter().zip(&offsets);
        fields_of[ty] = fields.clone().map(|(ty, &offset)| (ty - TAGS, offset)).collect();
        let node = if *size_aware {
            let size = *rng.pick(&[0, 4, 4, 8]);
            let fields = fields.map(|(ty, offset)| format!(", !{ty}, i64 {offset}, i64 4"));
            format!("!{parent}, i64 {size}, !\"t{ty}\"{}", fields.collect::<String>())
        } else if count == 0 {
            let offset = if rng.one_in(3) { "" } else { ", i64 0" };
            format!("!\"t{ty}\", !{parent}{offset}")
        } else {
            let fields = fields.map(|(ty, offset)| format!(", !{ty}, i64 {offset}"));
            format!("!\"t{ty}\"{}", fields.collect::<String>())
        };
        metadata += &format!("!{number} = !{{{node}}}\n");
    }
    let mut function = String::from("define void @f(ptr %p) {\n");
    for tag in 0..TAGS {
        let base = rng.below(types);
        let (mut access, mut offset) = (base, 0);
        if rng.one_in(5) {
            (access, offset) = (rng.below(types), *rng.pick(&[0, 0, 0, 4, 4, 8]));
        } else {
            // Down a few fields, as most tags go.
            for _ in 0..4 {
                if fields_of[access].is_empty() || size_aware[access] && rng.one_in(5) {
                    break;
                }
                let (field, at) = *rng.pick(&fields_of[access]);
                (access, offset) = (field, offset + at);
            }
        }
        let size = if size_aware[access] { ", i64 4" } else { "" };
        let (base, access) = (TAGS + base, TAGS + access);
        metadata += &format!("!{tag} = !{{!{base}, !{access}, i64 {offset}{size}}}\n");
        function += &format!("  store i64 {tag}, ptr %p, align 1, !tbaa !{tag}\n");
    }
    function + "  ret void\n}\n" + &metadata
}

/// The counts of a comparison of modules.
#[derive(Default)]
pub(super) struct Tally {
    modules: usize,
    killed: usize,
    tags: usize,
    rejected: usize,
    pairs: usize,
    no_alias: usize,
    crashes: usize,
    undefined: usize,
}

impl Tally {
    pub(super) fn report(&self, what: &str) {
        let Tally { modules, killed, tags, rejected, pairs, no_alias, crashes, undefined } = self;
        println!(
            "{modules} {what} modules: {tags} tags, {rejected} of them rejected; {pairs} pairs, \
             {no_alias} NoAlias, on {crashes} LLVM crashes and on {undefined} it reads what is no \
             node; no difference"
        );
        assert!(*rejected > 0 && rejected < tags && *no_alias > 0);
        assert!(*killed <= 1 + modules / 100, "LLVM itself dies on {killed} modules");
    }

    /// Compares verdicts and answers, and takes the module through a dump.
    pub(super) fn compare(&mut self, llvm: &Llvm, what: &str, source: &str) {
        self.modules += 1;
        let file = scratch(&format!("{what}.ll"), source.as_bytes());
        let answers = ["verify", "grid"].map(|c| llvm.aa_unless_killed(&[c, "--fork"], &file));
        let [Some(verdicts), Some(grid)] = answers else {
            self.killed += 1;
            return;
        };
        let module = tbaa_ir::read(source.as_bytes())
            .unwrap_or_else(|error| panic!("{what}: {error}\n{source}"));
        let graph = module.graph();
        let tags = module.attached_tags();
        let verdicts: Vec<_> = verdicts.lines().collect();
        assert_eq!(tags.len(), verdicts.len(), "{what}: number of tags\n{source}");
        let mut verifier = Verifier::new(graph);
        for (i, (&tag, verdict)) in tags.iter().zip(&verdicts).enumerate() {
            let ours = verifier.check(tag);
            // LLVM's verifier itself may crash, on a null operand: no verdict.
            if *verdict != "C" {
                let theirs = *verdict == "accept";
                assert_eq!(
                    ours.is_ok(),
                    theirs,
                    "{what}, tag {i}: here {ours:?}, LLVM: {verdict}\n{source}"
                );
            }
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
                // LLVM treats any operand here as a type. A build with assertions stops; Debian's
                // continues and answers from something that is not a node.
                if !expected && malformed && oracle.may_alias(a, b) {
                    expected = true;
                    self.undefined += 1;
                }
                assert_eq!(
                    oracle.may_alias(a, b),
                    expected,
                    "{what}: tags {i} and {j}: LLVM says {}\n{source}",
                    String::from_utf8_lossy(&cells)
                );
                assert_eq!(oracle.may_alias(b, a), expected, "{what}: {i} and {j} swapped");
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
        let format = if rng.one_in(2) { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 1 + rng.below(5), tags: 12, shape: Shape::Any };
        let graph = random::graph(&mut rng, &universe);
        let source = damaged(&mut rng, &random::module(&graph));
        tally.compare(llvm, &format!("damaged-{seed}"), &source);
    }
    tally.report("damaged");
}

#[test]
fn wild_modules() {
    let Some(llvm) = Llvm::get() else { return };
    let first_seed = setting("TBAA_SEED", 1);
    let mut tally = Tally::default();
    for seed in first_seed..first_seed + setting("TBAA_DAMAGED", 80) {
        let source = wild(&mut Rng(seed as u64));
        tally.compare(llvm, &format!("wild-{seed}"), &source);
    }
    tally.report("wild");
}
