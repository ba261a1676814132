//! Puts random mistakes into metadata, and reads it with our reader and with LLVM 22. LLVM must
//! accept each text in which our reader and checks find nothing wrong, and each text that we write.
//!
//! No mistake produces the syntax of LLVM 3 (`metadata !{...}`, typed pointers), which our reader
//! accepts on purpose. There are no mistakes in instructions and specialised nodes either, because
//! our reader skips them.
//!
//! `TBAA_TEXTS` is the number of texts, `TBAA_SEED` the first seed.

use std::process::Command;

use tbaa_tests::llvm::{Llvm, Program, WAYS, corpus, scratch};
use tbaa_tests::process::run;
use tbaa_tests::{Rng, damage, dumps, setting};

use super::verify::{ask, by_hand, is_refused, module, well_formed};

/// The number of texts that one run of LLVM reads.
const BATCH: usize = 500;

/// The number of texts that `llvm-as` reads too, to check the program `verify`, which reads all.
const ASSEMBLED: usize = 20;

/// Returns the metadata of each file of the corpus, compiled in each way, and its tags' numbers.
fn real(llvm: &Llvm) -> Vec<(Vec<String>, Vec<String>)> {
    let files = corpus();
    let compiled = files.iter().flat_map(|file| WAYS.map(|(_, options)| llvm.clang(file, options)));
    let metadata = compiled.map(|text| {
        let module = tbaa_ir::read(&text).unwrap();
        let numbering = module.numbering();
        let dump = dumps::check(&module);
        let tags = module.attached_tags().into_iter();
        let tags = tags.filter_map(|tag| numbering.get(module.graph().tag_node(tag)));
        (dump.lines().map(str::to_owned).collect(), tags.map(|tag| format!("!{tag}")).collect())
    });
    metadata.collect()
}

/// Returns metadata with random mistakes, alone or with a function that uses its tags.
fn text(rng: &mut Rng, real: &[(Vec<String>, Vec<String>)]) -> String {
    let is_alone = rng.one_in(2);
    let (mut lines, tags) = match rng.below(3) {
        // On an instruction, LLVM's verifier rejects some of these tags even without a mistake.
        0 if is_alone => by_hand(),
        0 | 1 => well_formed(rng, 4),
        _ => rng.pick(real).clone(),
    };
    let has_lists = rng.one_in(2);
    lines.retain(|line| !line.is_empty() && (has_lists || !line.starts_with("!tbaa.")));
    let damaged = damage::metadata(rng, lines);
    if is_alone { damaged } else { module(rng, &damaged, &tags) }
}

fn complaint(source: &str) -> Option<String> {
    let file = scratch("taken.ll", source.as_bytes());
    run(Command::new("llvm-as-22").args(["-o", "/dev/null"]).arg(&file)).err()
}

#[test]
fn what_llvm_refuses_is_refused_or_found() {
    let (Some(llvm), Some(program)) = (Llvm::get(), Program::get("verify")) else { return };
    let (first, count) = (setting("TBAA_SEED", 1), setting("TBAA_TEXTS", 2_000));
    let real = real(llvm);
    let (mut refused, mut only_here, mut dumped, mut wrong) = (0, 0, 0, Vec::new());
    let seeds: Vec<usize> = (first..first + count).collect();
    for batch in seeds.chunks(BATCH) {
        let sources: Vec<String> =
            batch.iter().map(|&seed| text(&mut Rng(seed as u64), &real)).collect();
        let mut dumps = Vec::new();
        for ((&seed, source), answers) in batch.iter().zip(&sources).zip(ask(&program, &sources)) {
            let accepted = answers.last().is_some_and(|verdict| verdict == "module accept");
            if seed - first < ASSEMBLED {
                assert_eq!(complaint(source).is_none(), accepted, "seed {seed}\n{source}");
            }
            refused += usize::from(!accepted);
            if !accepted && !is_refused(source) {
                wrong.push((seed, complaint(source), source.clone()));
            }
            let Ok(module) = tbaa_ir::read(source.as_bytes()) else {
                only_here += usize::from(accepted);
                continue;
            };
            let dump = tbaa_ir::write_numbered(module.graph(), &module.numbering(), |_| None);
            dumps.push((seed, dump));
        }
        let texts: Vec<String> = dumps.iter().map(|(_, dump)| dump.clone()).collect();
        for ((seed, dump), answers) in dumps.iter().zip(ask(&program, &texts)) {
            if answers != ["module accept"] {
                wrong.push((*seed, complaint(dump), format!("dump:\n{dump}")));
            }
            dumped += usize::from(!dump.is_empty());
        }
    }
    println!("{count} texts: LLVM refuses {refused}, only we {only_here}; it reads {dumped} dumps");
    let few = &wrong[..wrong.len().min(3)];
    assert!(wrong.is_empty(), "{} texts that only LLVM refuses: {few:#?}", wrong.len());
    assert!(refused > count / 4 && refused < count && only_here < count / 20 && dumped > count / 4);
}
