//! Compares every `llvm` answer of the specs with LLVM 22's.

use std::fs;

use tbaa::spec::{Built, Expectation, Spec};
use tbaa::{AliasResult, AliasRule};
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::random;

/// LLVM's verdict on each tag of a spec, and its answer on each pair, by the tags' indices.
struct Verdicts {
    accepted: Vec<bool>,
    grid: Vec<Vec<u8>>,
}

impl Verdicts {
    fn of(llvm: &Llvm, stem: &str, built: &Built) -> Self {
        let module = random::module(built.graph());
        let file = scratch(&format!("spec-{stem}.ll"), module.as_bytes());
        let (accepted, grid) = (llvm.verdicts(&file), llvm.grid(&["--fork"], &file));
        let this = Verdicts { accepted, grid };
        // The graph and LLVM both merge equal nodes, so that indices agree.
        assert_eq!(this.grid.len(), built.graph().tag_count(), "{stem}: number of tags");
        assert_eq!(this.accepted.len(), this.grid.len(), "{stem}: number of verdicts");
        this
    }

    /// Checks an expected answer. Returns `true` if LLVM gives it, `false` if LLVM rejects a tag
    /// and the spec expects `MayAlias`, and otherwise the reason why the spec must not claim it.
    fn confirm(&self, expectation: &Expectation<'_>) -> Result<bool, String> {
        let (a, b) = (expectation.a.index(), expectation.b.index());
        let may = expectation.answer == AliasResult::MayAlias;
        let letters = [self.grid[a][b], self.grid[b][a]];
        if !(self.accepted[a] && self.accepted[b]) {
            return may.then_some(false).ok_or("LLVM rejects a tag: leave `llvm` out".to_owned());
        }
        match letters == [if may { b'M' } else { b'N' }; 2] {
            true => Ok(true),
            false => Err(format!("LLVM answers {:?}", letters.map(char::from))),
        }
    }
}

#[test]
fn llvm_gives_the_answers_that_specs_say_it_gives() {
    let Some(llvm) = Llvm::get() else { return };
    let files = tbaa_tests::files("specs", &["ron"]);
    let (mut confirmed, mut rejected, mut failures) = (0, 0, Vec::new());
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let stem = file.file_stem().unwrap().to_string_lossy();
        let built = Spec::load(&text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        let verdicts = Verdicts::of(llvm, &stem, &built);
        for expectation in built.expectations().filter(|e| e.rule == AliasRule::Llvm) {
            match verdicts.confirm(&expectation) {
                Ok(true) => confirmed += 1,
                Ok(false) => rejected += 1,
                Err(why) => {
                    let (line, _) = expectation.place.locate(&text);
                    let Expectation { a_name, b_name, answer, .. } = expectation;
                    failures.push(format!(
                        "{stem}.ron:{line}: {a_name:?} and {b_name:?}: expected {answer}; {why}"
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(confirmed > 0, "no spec has an answer by rule llvm");
    println!(
        "{} specs: {confirmed} confirmed, {rejected} MayAlias for a rejected tag",
        files.len()
    );
}
