//! A dump keeps the node numbers of a text, even with gaps and out of order.

use tbaa::Format;
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, cases, dumps, setting};

use super::read;

/// Returns a random module: unordered numbers with gaps, inline tags, types attached as tags.
fn text(rng: &mut Rng) -> String {
    let format = if rng.one_in(2) { Format::Old } else { Format::New };
    let universe = Universe { format, structs: 1 + rng.below(4), tags: 12, shape: Shape::Any };
    let module = random::module(&random::graph(rng, &universe));
    let (body, metadata) = module.split_once("\n!tbaa.tags").unwrap();
    let is_node = |line: &&str| line.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let lines: Vec<&str> = metadata.lines().filter(is_node).collect();
    let (first, step) = (rng.below(5), 1 + rng.below(40));
    let order = rng.shuffled(lines.len());
    let number = |old: usize| order[old] * step + first;
    let renumbered = |text: &str| {
        let mut parts = text.split('!');
        let mut out = parts.next().unwrap().to_owned();
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            out.push('!');
            match part[..digits].parse().ok().filter(|&old: &usize| old < lines.len()) {
                Some(old) => out += &number(old).to_string(),
                None => out += &part[..digits],
            }
            out += &part[digits..];
        }
        out
    };
    let mut out = String::new();
    for line in body.lines() {
        let (line, tag) = line.split_once("!tbaa !").unwrap_or((line, ""));
        out += line;
        if let Some(definition) = tag.parse().ok().map(|tag: usize| lines[tag]) {
            let operands = definition.split_once("= ").unwrap().1;
            let base = operands[2..].split(',').next().unwrap();
            out += "!tbaa ";
            out += &renumbered(match rng.below(4) {
                0 => operands,
                1 => base,
                _ => definition.split_once(' ').unwrap().0,
            });
        }
        out.push('\n');
    }
    for line in &lines {
        out += &(renumbered(line) + "\n");
    }
    out
}

#[test]
fn a_dump_keeps_the_numbers_of_a_text() {
    let (mut inline, mut nodes) = (0, 0);
    for seed in 0..setting("TBAA_GRAPHS", 6) * 100 {
        let text = text(&mut Rng(seed as u64));
        let module = read(&text);
        dumps::check(&module);
        let of_text = |node| module.number_of(node).is_some();
        inline += module.graph().nodes().filter(|&node| !of_text(node)).count();
        nodes += module.graph().node_count();
    }
    assert!(inline > nodes / 50 && inline < nodes / 2, "{inline} of {nodes} nodes have no number");
    let mut modules = 0;
    for (title, parts) in cases::all(super::listing::FILE) {
        if let Ok(module) = tbaa_ir::read(parts[0].as_bytes()) {
            println!("{title}");
            dumps::check(&module);
            modules += 1;
        }
    }
    assert!(modules >= 20, "{modules}");
}

/// The largest possible number is in use, so that free numbers must be below it.
#[test]
fn inline_nodes_have_numbers_that_the_text_does_not_use() {
    let module = read(
        "define void @f(ptr %p) {\n store i8 0, ptr %p, !tbaa !{!1, !1, i64 0}\n ret void\n}\n\
         !1 = !{!\"int\", !4294967295}\n!4294967295 = !{!\"R\"}\n!0 = !DIFile()\n!2 = !{}\n",
    );
    let dump = tbaa_ir::write_numbered(module.graph(), &module.numbering(), |_| None);
    assert_eq!(
        dump,
        "!tbaa.tags = !{!3}\n\n!1 = !{!\"int\", !4294967295}\n!3 = !{!1, !1, i64 0}\n\
         !4294967295 = !{!\"R\"}\n"
    );
}
