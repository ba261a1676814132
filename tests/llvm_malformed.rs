//! Ill-formed metadata: the verifier's verdict and rule `llvm` against LLVM 22,
//! on modules whose nodes were damaged operand by operand.
//!
//! LLVM crashes, or recurses without end, on some tags that its verifier
//! accepts. Such a pair is `MayAlias` here, in both orders.

mod support;

use support::llvm::{Llvm, scratch};
use support::random::{self, Shape, Universe};
use support::{Rng, setting};
use tbaa::verify::Verifier;
use tbaa::{Format, Oracle, Rules, TypeKind, text};

/// Damages up to a few operands of the nodes that a module's text defines.
fn damage(rng: &mut Rng, module: &str) -> String {
    let mut lines: Vec<String> = module.lines().map(str::to_owned).collect();
    let numbered = |line: &str| line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let nodes: Vec<usize> =
        (0..lines.len()).filter(|&i| lines[i].starts_with('!') && numbered(&lines[i])).collect();
    for _ in 0..1 + rng.below(4) {
        let line = &mut lines[*rng.pick(&nodes)];
        let Some((head, rest)) = line.split_once('{') else { continue };
        let head = head.to_owned();
        let mut operands: Vec<String> = match rest.trim_end_matches('}') {
            "" => Vec::new(),
            rest => rest.split(", ").map(str::to_owned).collect(),
        };
        let is_tag = operands.first().is_some_and(|first| first.starts_with("!"))
            && operands.get(1).is_some_and(|second| second.starts_with("!"));
        // LLVM's own reader crashes on an attached node whose first operand is
        // null or missing.
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
            _ => {
                let from = rng.below(operands.len());
                let copy = operands[from].clone();
                operands[at] = copy;
            }
        }
        let distinct = if rng.one_in(8) && !head.contains("distinct") { "distinct " } else { "" };
        let (number, rest) = head.split_once("= ").unwrap();
        *line = format!("{number}= {distinct}{rest}{{{}}}", operands.join(", "));
    }
    lines.join("\n") + "\n"
}

#[test]
fn damaged_modules() {
    let Some(llvm) = Llvm::get() else { return };
    let wanted = setting("TBAA_DAMAGED", 600);
    let first_seed = setting("TBAA_SEED", 1);
    let mut killed = 0;
    let (mut rejected, mut tags_seen, mut pairs, mut crashes, mut undefined) = (0, 0, 0, 0, 0);
    for seed in first_seed..first_seed + wanted {
        let mut rng = Rng(seed as u64);
        let format = if rng.one_in(2) { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 1 + rng.below(5), tags: 12, shape: Shape::Any };
        let graph = random::graph(&mut rng, &universe);
        let source = damage(&mut rng, &random::module(&graph));
        let file = scratch("damaged.ll", source.as_bytes());

        let module = text::read(source.as_bytes())
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
        let tags = module.attached_tags();
        let answers = ["verify", "grid"].map(|c| llvm.aa_unless_killed(&[c, "--fork"], &file));
        let [Some(verdicts), Some(grid)] = answers else {
            killed += 1;
            continue;
        };
        let verdicts: Vec<_> = verdicts.lines().collect();
        assert_eq!(tags.len(), verdicts.len(), "seed {seed}: number of tags\n{source}");
        let mut verifier = Verifier::new(module.graph());
        for (i, (&tag, verdict)) in tags.iter().zip(&verdicts).enumerate() {
            let ours = verifier.check(tag);
            // LLVM's verifier itself may crash, on a null operand: no verdict.
            if *verdict != "C" {
                assert_eq!(
                    ours.is_ok(),
                    *verdict == "accept",
                    "seed {seed}, tag {i}: here {ours:?}, LLVM: {verdict}\n{source}"
                );
            }
            rejected += usize::from(ours.is_err());
        }
        tags_seen += tags.len();

        let grid: Vec<&[u8]> = grid.lines().map(str::as_bytes).collect();
        let oracle = Oracle::new(module.graph(), Rules::Llvm);
        let graph = module.graph();
        let malformed = graph.types().any(|ty| graph.ty(ty).kind() == TypeKind::Malformed);
        for (i, &a) in tags.iter().enumerate() {
            for (j, &b) in tags.iter().enumerate().skip(i) {
                let cells = [grid[i][j], grid[j][i]];
                let mut expected = cells != [b'N', b'N'];
                crashes += usize::from(cells.contains(&b'C'));
                // LLVM takes whatever operand it finds for a type. Built with
                // assertions it stops there; Debian's goes on and answers from
                // what is no node.
                if !expected && malformed && oracle.may_alias(a, b) {
                    expected = true;
                    undefined += 1;
                }
                assert_eq!(
                    oracle.may_alias(a, b),
                    expected,
                    "seed {seed}: tags {i} and {j}: LLVM says {}\n{source}",
                    String::from_utf8_lossy(&cells)
                );
                assert_eq!(oracle.may_alias(b, a), expected, "seed {seed}: {i} and {j} swapped");
                pairs += 1;
            }
        }
        let dumped = text::write(module.graph());
        let again = text::read(dumped.as_bytes()).unwrap();
        assert_eq!(again.graph(), module.graph(), "seed {seed}: a damaged node is lost\n{source}");
    }
    assert!(rejected > 0 && rejected < tags_seen);
    assert!(killed <= 1 + wanted / 100, "LLVM itself dies on {killed} of {wanted} modules");
    println!(
        "{wanted} damaged modules, seeds from {first_seed}: {tags_seen} tags, {rejected} of them \
         rejected; {pairs} pairs, on {crashes} of which LLVM crashes and on {undefined} reads \
         what is no node; no difference"
    );
}
