//! Texts that are cut off or damaged: nothing panics. A cut text is refused, unless the cut is
//! before all tags or after all metadata in use.

use tbaa_ir::{Keep, Module, TextError};
use tbaa_tests::{Rng, damage, fuzz};

/// A module with many kinds of instructions and metadata.
const MODULE: &str = include_str!("hostile.ll");

/// Runs the fuzz targets `text` and `module` on a text, and reads it.
fn use_all(text: &[u8]) -> Result<Module<'_>, TextError> {
    fuzz::text(text);
    fuzz::module(text);
    tbaa_ir::read(text)
}

#[test]
fn the_text_itself_is_readable() {
    let module = use_all(MODULE.as_bytes()).unwrap();
    assert_eq!(module.instructions().len(), 5);
    assert_eq!(module.attached_tags().len(), 4);
    assert_eq!(module.graph().copies().count(), 1);
    assert_eq!(module.warnings(), []);
}

#[test]
fn a_text_cut_anywhere_is_refused_or_whole() {
    for text in [MODULE.to_owned(), MODULE.replace('\n', "\r\n")] {
        let whole = tbaa_ir::write(use_all(text.as_bytes()).unwrap().graph());
        let mut refused = 0;
        for end in 0..text.len() {
            match use_all(&text.as_bytes()[..end]) {
                Err(_) => refused += 1,
                // The text is cut before all tags, or (next arm) after all metadata in use.
                Ok(module) if module.functions().len() < 2 && module.attached_tags().is_empty() => {
                }
                Ok(module) => {
                    assert_eq!(tbaa_ir::write(module.graph()), whole, "cut at byte {end}");
                }
            }
        }
        assert!(refused > text.len() / 2, "{refused}");
    }
}

#[test]
fn a_damaged_text_is_no_danger() {
    let (mut read, mut refused) = (0, 0);
    for seed in 0..3_000 {
        let mut text = MODULE.as_bytes().to_owned();
        damage::bytes(&mut Rng(seed), &mut text);
        let result = std::panic::catch_unwind(|| use_all(&text).is_ok());
        match result {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(_) => panic!("seed {seed}:\n{}", String::from_utf8_lossy(&text)),
        }
    }
    assert!(read > 500 && refused > 500, "{read} read, {refused} refused");
}

#[test]
fn a_damaged_list_of_metadata_is_no_danger() {
    let list = &MODULE[MODULE.find("!3 = ").unwrap()..];
    for seed in 0..2_000 {
        let mut text = format!("!tbaa.tags = !{{!3, !9, !20, !6}}\n{list}").into_bytes();
        damage::bytes(&mut Rng(seed), &mut text);
        if std::panic::catch_unwind(|| drop(use_all(&text))).is_err() {
            panic!("seed {seed}:\n{}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn a_loop_id_that_no_tag_reaches_is_no_cycle_to_warn_of() {
    let all = tbaa_ir::read_with(MODULE.as_bytes(), Keep::All).unwrap();
    assert_eq!(all.warnings(), []);
    let used = tbaa_ir::read(MODULE.replace("!tbaa !9", "!tbaa !32").into_bytes()).unwrap();
    assert_eq!(used.warnings().len(), 1, "but a tag may reach it");
    let listing = tbaa_ir::read(b"!0 = distinct !{!0, !1}\n!1 = !{}\n").unwrap();
    assert_eq!(listing.warnings().len(), 1, "and a list is all that its reader asks about");
}

/// Searching the whole line for each instruction, or many nodes for each node, would take minutes.
#[test]
fn no_text_takes_quadratic_time() {
    let n = 100_000;
    let instructions = "cmpxchg ptr %p !tbaa !3 ".repeat(n);
    let text = format!("define void @f(ptr %p) {{\n{instructions}}}\n!3 = !{{}}\n");
    assert_eq!(tbaa_ir::read(text.as_bytes()).unwrap().instructions().len(), n);

    // Node `!i` refers to the next node (the last node to the first), and to node `!(n - 1 - i)`.
    let n = 400_000;
    let mut text = String::new();
    for i in 0..n {
        text.push_str(&format!("!{i} = !{{!{}, !{}}}\n", (i + 1) % n, n - 1 - i));
    }
    assert_eq!(tbaa_ir::read(text.as_bytes()).unwrap().graph().node_count(), n);
}
