//! Hostile texts cause no panic, no stack overflow and no endless search.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use tbaa::AliasRule;
use tbaa_check::verify::{Rule, verify};
use tbaa_check::{Code, LeftOut};

use crate::stack::on_a_small_stack;
use tbaa_tests::hostile::KINDS;
use tbaa_tests::{fuzz, setting};

#[test]
fn every_kind_gets_an_answer() {
    on_a_small_stack(|| {
        for (name, write) in KINDS {
            let mut source = Vec::new();
            write(setting("TBAA_ITEMS", 40), &mut source).unwrap();
            println!("{name}");
            fuzz::text(&source);
            fuzz::module(&source);
        }
    });
}

/// Following the paths of all tags would take quadratic time, so `verify` stops at a limit.
#[test]
fn paths_are_followed_only_so_far() {
    let (_, write) = KINDS.iter().find(|(name, _)| *name == "offsets").unwrap();
    let code = Code::Rule(Rule::NoUnionPath);
    for (items, ends_early) in [(1_000, false), (6_000, true)] {
        let mut source = Vec::new();
        write(items, &mut source).unwrap();
        let module = tbaa_ir::read(&source[..]).unwrap();
        let found = verify(&module, AliasRule::Union);
        let expected = ends_early.then_some(LeftOut { code, count: 0, at_least: true });
        assert!(found.is_empty() && found.left_out().eq(expected), "{items}");
    }
}

/// Writes a file of each kind, with `TBAA_ITEMS` items, to `target/tmp/hostile`.
#[test]
#[ignore = "writes large files"]
fn write_files() {
    let items = setting("TBAA_ITEMS", 400);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    fs::create_dir_all(&folder).unwrap();
    for (name, write) in KINDS {
        let mut out = BufWriter::new(File::create(folder.join(format!("{name}.ll"))).unwrap());
        write(items, &mut out).unwrap();
        out.flush().unwrap();
    }
}
