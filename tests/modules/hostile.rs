//! Texts of strangers, through everything that reads them: an answer or
//! an error, on a stack of 256 KiB.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use tbaa::{AliasRule, Oracle, TagId};
use tbaa_check::link::{Linked, Summary};
use tbaa_check::lint::{self, lint, lint_graph};
use tbaa_check::verify::{Rule, verify, verify_graph};
use tbaa_check::{Code, LeftOut};
use tbaa_ir::{Keep, Names};
use tbaa_lower::{Lowering, Options};

use crate::stack::on_a_small_stack;
use tbaa_tests::hostile::KINDS;
use tbaa_tests::setting;

fn read(source: &[u8]) {
    let Ok(module) = tbaa_ir::read_with(source, Keep::All) else { return };
    let graph = module.graph();
    let tags: Vec<TagId> = graph.tags().collect();
    let names = Names::of_module(&module);
    tags.iter().for_each(|&tag| _ = names.tag(tag));
    for rules in AliasRule::ALL {
        let _ = (verify(&module, rules), verify_graph(graph, rules));
        let oracle = Oracle::new(graph, rules);
        let classes = oracle.classes(&tags);
        assert!(classes.len() <= tags.len());
        for &a in tags.iter().step_by(tags.len() / 8 + 1) {
            for &b in tags.iter().step_by(tags.len() / 9 + 1) {
                let may = oracle.may_alias(a, b);
                assert_eq!(may, oracle.may_alias(b, a), "{rules}");
                let _ = oracle.explain(a, b);
            }
        }
        let few: Vec<TagId> = tags.iter().copied().take(50).collect();
        let mut lowering = Lowering::new(Options::new());
        if lowering.lower(&oracle, &few).is_ok() {
            assert!(lowering.check(&oracle).is_empty());
        }
    }
    let _ =
        (lint(&module, &lint::Options::default()), lint_graph(graph, &lint::Options::default()));
    assert!(tbaa_ir::read(tbaa_ir::write(graph).as_bytes()).is_ok());
    let (summary, _) = Summary::of("a", graph);
    let (twice, _) = Summary::link(&[&summary, &summary]);
    assert_eq!(twice, summary);
    assert!(Linked::from_summary(twice).is_ok());
}

#[test]
fn every_kind_gets_an_answer() {
    on_a_small_stack(|| {
        for (name, write) in KINDS {
            let mut source = Vec::new();
            write(setting("TBAA_ITEMS", 40), &mut source).unwrap();
            println!("{name}");
            read(&source);
        }
    });
}

/// Each path from the last of many structs may lead to any of the others: following all of them
/// would take quadratic time.
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

/// Files of `TBAA_ITEMS` items each, under `target/tmp/hostile`.
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
