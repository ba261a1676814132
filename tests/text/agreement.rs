//! Compares `tbaa_ir::read` with the plain reader in [`slow`] on functions with random damage. Both
//! readers must find the same instructions.

use tbaa_ir::Opcode;
use tbaa_tests::cases;

use super::{Rng, slow};

/// Tokens of the assembly language, and pieces that are no tokens, separated by `|`.
const PIECES: &str = "\n|\r\n| |\t|        |;|; c\n|/*|*/|/* x */|/*\n*/|/|\"|(|)|[|]|{|}|<|>|!|!tbaa !0|\
    !tbaa|!tbaa.struct !2|!{}|!1|%|%x = |%y\t=\n|@|=|:|,|*|\\|+|?|-|load |store |call |tail |\
    volatile |atomic |weak |void |i32|true|addrspace(1)|1:|metadata|\0|\u{80}";

fn damaged(rng: &mut Rng, lines: &[String], pieces: &[&str]) -> Vec<u8> {
    let mut body: String = (0..1 + rng.below(30)).map(|_| &**rng.pick(lines)).collect();
    let near = |body: &str, at: usize| (at..).find(|&at| body.is_char_boundary(at)).unwrap_or(0);
    for _ in 0..rng.below(6) {
        let at = near(&body, rng.below(body.len()));
        let end = near(&body, body.len().min(at + 1 + rng.below(8)));
        match rng.below(5) {
            0 => drop(body.drain(at..end)),
            1 => {
                let copy = body[at..end].to_owned();
                body.insert_str(near(&body, rng.below(body.len())), &copy);
            }
            _ => body.insert_str(at, rng.pick::<&str>(pieces)),
        }
        body.push('\n');
    }
    // An ending that may close what the damage opened, so that the reader refuses fewer texts.
    let close = ["", "", "\n\"", "\n*/", "\n)", "\n]}"];
    format!(
        "define void @f(ptr %p) {{\n{body}{}\n}}\n!0 = !{{!1, !1, i64 0}}\n!1 = !{{!\"int\", !{{}}}}\n\
         !2 = !{{i64 0, i64 4, !0}}\n",
        rng.pick(&close)
    )
    .into_bytes()
}

#[test]
fn a_reader_without_shortcuts_agrees() {
    let (mut read, mut instructions, mut tagged) = (0, 0, 0);
    let lines = cases::all("text/lines.txt").swap_remove(0).1;
    let pieces: Vec<&str> = PIECES.split('|').collect();
    for seed in 0..30_000 {
        let text = damaged(&mut Rng(seed), &lines, &pieces);
        let Ok(module) = tbaa_ir::read(&text) else { continue };
        let show = || String::from_utf8_lossy(&text).into_owned();
        let expected = slow::instructions(&text)
            .unwrap_or_else(|| panic!("seed {seed}: only one of the two reads\n{}", show()));
        let first = module.instructions().iter().take_while(|i| i.function == 0);
        let seen: Vec<_> = first
            .map(|i| slow::Row {
                index: i.index,
                opcode: i.opcode,
                offset: i.offset as usize,
                volatile: i.volatile,
                atomic: i.atomic,
                ty: module.access_type(i).to_owned(),
                tag: module.tag_span(i).map(|span| text[span].to_owned()),
                copy: i.copy.is_some(),
            })
            .collect();
        assert!(seen == expected, "seed {seed}:\n{}\n{seen:#?}\n{expected:#?}", show());
        let span = module.function_span(0);
        assert_eq!((text[span.start - 1], text[span.end]), (b'{', b'}'));
        // `Module::function` leaves out attachments (with offset 0) before the first instruction.
        let sizes = tbaa_ir::Sizes::new(&module);
        let function = module.function(&sizes, 0);
        let listed = function.instructions.iter().filter_map(|inst| inst.access);
        let is_within = |at: &usize| module.instructions()[*at].offset as usize >= span.start;
        let expected = module.accesses_of(0).filter(is_within);
        assert!(listed.eq(expected), "seed {seed}:\n{}", show());
        for inst in &function.instructions {
            _ = function.call(inst);
        }
        read += 1;
        instructions += seen.len();
        tagged += seen.iter().filter(|row| row.tag.is_some()).count();
        assert!(
            seen.iter().all(|row| row.opcode != Opcode::Other || row.tag.is_some() || row.copy)
        );
    }
    // The readers accept enough texts for the comparison to mean something.
    assert!(
        read > 8_000 && instructions > 40_000 && tagged > 20_000,
        "{read} {instructions} {tagged}"
    );
}
