//! Compares our verifier with LLVM 22's, tag by tag and message by message, on modules whose nodes
//! were damaged at random positions.
//!
//! `TBAA_MODULES` is the number of modules, `TBAA_SEED` the first seed.

use std::fmt::Write;

use tbaa::explain::Clause;
use tbaa::{AliasRule, Format, Oracle, TagId};
use tbaa_check::lint::lint;
use tbaa_check::verify::{Rule, Verifier, verify};
use tbaa_check::{Code, Diagnostic, Level};
use tbaa_ir::{Instruction, Module, Opcode};
use tbaa_tests::damage::{self, WIDE};
use tbaa_tests::llvm::{Program, scratch};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, setting};

/// The number of modules that one run of LLVM reads.
const BATCH: usize = 250;

const EMPTY_ERRNO: &str = "!llvm.errno.tbaa = !{}\n";

/// Instructions that may have a tag, and some that may not; `#` is replaced by a unique number.
const INSTRUCTIONS: &str = include_str!("../fixtures/text/taggable.txt");

/// Returns a module with the metadata, an instruction for each tag, and often a list of errno tags.
pub(super) fn module(rng: &mut Rng, metadata: &str, tags: &[String]) -> String {
    let mut out = String::from(
        "declare void @g()\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
         declare i32 @personality(...)\n\
         define void @f(ptr %p) personality ptr @personality {\n",
    );
    let instructions: Vec<&str> = INSTRUCTIONS.lines().collect();
    for (number, tag) in tags.iter().enumerate() {
        // Mostly stores: if LLVM rejects a tag on an instruction, it does not check the tag itself.
        let template = if rng.one_in(3) { *rng.pick(&instructions) } else { instructions[0] };
        let line = template.replace('#', &number.to_string());
        let _ = writeln!(out, "  {line}, !tbaa {tag}");
        if line.starts_with("invoke") {
            let _ = writeln!(out, "b{number}:");
        }
    }
    out += "  ret void\npad:\n  %l = landingpad { ptr, i32 } cleanup\n  ret void\n}\n";
    if rng.one_in(32) {
        out += EMPTY_ERRNO;
    } else if rng.one_in(2) {
        // Lists any two nodes, tags or not.
        let nodes = metadata.lines().count();
        let (a, b) = (rng.below(nodes), rng.below(nodes));
        let _ = writeln!(out, "!llvm.errno.tbaa = !{{!{a}, !{b}}}");
    }
    out + metadata
}

/// Returns the metadata of a random well-formed graph with at most `most` structs, and its tags.
pub(super) fn well_formed(rng: &mut Rng, most: usize) -> (Vec<String>, Vec<String>) {
    let format = if rng.one_in(2) { Format::Old } else { Format::New };
    let universe =
        Universe { format, structs: 1 + rng.below(most), tags: 2 * most, shape: Shape::Any };
    let written = tbaa_ir::write(&random::graph(rng, &universe));
    let lines = written.lines().skip(1);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("!tbaa.types"));
    let numbers = random::numbers(&written).into_iter().map(str::to_owned);
    (lines.map(str::to_owned).collect(), numbers.collect())
}

/// Returns a few hand-written nodes and their tags: both formats under one root, old scalars of two
/// operands, and a union. Some of the tags are types.
pub(super) fn by_hand() -> (Vec<String>, Vec<String>) {
    // The last types are ill formed from the start, because damage seldom makes such types: one
    // contains itself, and one has only a name and a struct as operands.
    let lines = include_str!("../fixtures/text/by_hand.ll");
    // `!2` and `!3` are types, attached like tags, as in LLVM's scalar format or by mistake.
    let tags = "!8 !9 !10 !11 !12 !13 !14 !15 !17 !19 !21 !23 !2 !3";
    (lines.lines().map(str::to_owned).collect(), tags.split(' ').map(str::to_owned).collect())
}

fn takes_tag(text: &[u8], instruction: &Instruction) -> bool {
    let line = &text[instruction.offset as usize..];
    match instruction.opcode {
        Opcode::Other => false,
        Opcode::Call => !line.starts_with(b"invoke"),
        _ => true,
    }
}

#[derive(Default, Debug)]
struct Tally {
    /// Modules that LLVM cannot read.
    unreadable: usize,
    tags: usize,
    rejected: usize,
    /// Tags on which LLVM's verifier crashes.
    crashes: usize,
    /// Tags that are rejected here, and by LLVM for another reason or not at all, in modules with
    /// an integer of more than 64 bits.
    wide: usize,
    /// Tags that are rejected here, and on which LLVM reads a node where there is none.
    undefined: usize,
    /// Modules whose verdict by LLVM does not follow from our verdicts on their tags.
    explained: usize,
    rules: std::collections::BTreeMap<Rule, usize>,
}

impl Tally {
    fn compare(&mut self, seed: usize, source: &str, answers: &[String]) {
        if answers == ["unreadable"] {
            self.unreadable += 1;
            assert!(is_refused(source), "seed {seed}: only LLVM refuses this\n{source}");
            return;
        }
        let text = source.as_bytes();
        let module = tbaa_ir::read(text);
        let module = module.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
        let mut verifier = Verifier::new(module.graph());
        let attached =
            module.instructions().iter().filter_map(|user| Some((Some(user), user.tag?)));
        let errno = module.errno_tags().iter().map(|&tag| (None, tag));
        let cases: Vec<(Option<&Instruction>, TagId)> = attached.chain(errno).collect();
        let (verdict, answers) = answers.split_last().unwrap();
        assert_eq!(cases.len(), answers.len(), "seed {seed}\n{source}");
        let (mut loud, mut crashed) = (source.contains(EMPTY_ERRNO), verdict == "module crash");
        for (&(user, tag), theirs) in cases.iter().zip(answers) {
            let mut ours = verifier.check(tag).map_err(|violation| violation.rule);
            if ours != Err(Rule::TagEmpty) && user.is_some_and(|user| !takes_tag(text, user)) {
                ours = Err(Rule::Instruction);
            }
            self.tags += 1;
            self.rejected += usize::from(ours.is_err());
            let message = ours.err().map(|rule| rule.llvm_message());
            ours.err().into_iter().for_each(|rule| *self.rules.entry(rule).or_default() += 1);
            loud |= message.is_some_and(|message| !message.is_empty());
            self.crashes += usize::from(theirs == "crash");
            crashed |= theirs == "crash";
            let alike = match (theirs.strip_prefix("reject "), message) {
                // The message differs between the formats: ours lists both.
                (Some(theirs), Some(ours)) => ours.split("; ").any(|words| words == theirs),
                (None, ours) => theirs == "crash" || theirs == "accept" && ours.is_none(),
                (Some(_), None) => false,
            };
            if !alike && source.contains(WIDE) && ours.is_err() {
                self.wide += 1;
                continue;
            }
            // LLVM reads operand 0 of a size-aware scalar as its parent, even a string.
            if !alike && ours == Err(Rule::FieldType) {
                self.undefined += 1;
                crashed = true;
                continue;
            }
            assert!(alike, "seed {seed}, {tag:?}: here {ours:?}, LLVM {theirs:?}\n{source}");
        }
        tables_agree(seed, source, &module);
        reports_agree(seed, source, &module, &cases);
        if !crashed {
            let theirs = verdict == "module reject";
            // LLVM remembers a type's verdict for the format that was checked first, and rejects
            // some types without a message.
            self.explained += usize::from(loud != theirs);
            let is_lenient = loud && (has_both_formats(&module) || source.contains(WIDE));
            assert!(loud == theirs || is_lenient, "seed {seed}: {verdict}\n{source}");
        }
    }
}

/// Checks that `verify` reports each rule that `check` finds broken, and nothing if all hold.
fn reports_agree(
    seed: usize,
    source: &str,
    module: &Module<'_>,
    cases: &[(Option<&Instruction>, TagId)],
) {
    let found = verify(module, AliasRule::Llvm);
    let errors = found.iter().filter(|found| found.level == Level::Error);
    let rule =
        |found: &Diagnostic| if let Code::Rule(rule) = found.code { Some(rule) } else { None };
    let mut reported: Vec<Rule> = errors.filter_map(rule).collect();
    let mut verifier = Verifier::new(module.graph());
    for &(user, tag) in cases {
        if let Err(violation) = verifier.check(tag) {
            let at = reported.iter().position(|&rule| rule == violation.rule);
            assert!(at.is_some(), "seed {seed}: {violation} is not reported\n{source}");
        }
        if user.is_some_and(|user| !takes_tag(source.as_bytes(), user)) {
            let at = reported.iter().position(|&rule| rule == Rule::Instruction).unwrap();
            reported.swap_remove(at);
        }
    }
    let empty = reported.iter().filter(|&&rule| rule == Rule::ErrnoEmpty).count();
    assert_eq!(empty, usize::from(source.contains(EMPTY_ERRNO)), "seed {seed}");
    let rejected = empty > 0 || cases.iter().any(|&(_, tag)| verifier.check(tag).is_err());
    assert!(rejected || reported.is_empty(), "seed {seed}: {reported:?}\n{source}");
    for finding in found {
        let span = finding.primary.expect("a place").span;
        assert_ne!(source.get(span.clone()).unwrap_or_default(), "", "seed {seed}: {span:?}");
    }
}

/// Returns whether our reader refuses a text, or `verify` or `lint` has a finding in it.
pub(super) fn is_refused(source: &str) -> bool {
    let text = source.as_bytes();
    tbaa_ir::read(text).map_or(true, |module| {
        !verify(&module, AliasRule::Llvm).is_empty()
            || !lint(&module, &tbaa_check::lint::Options::default()).is_empty()
    })
}

/// Checks that the tables of rule `llvm`, which do not follow each path to its end, reject the same
/// tags as `check`.
fn tables_agree(seed: usize, source: &str, module: &Module<'_>) {
    let graph = module.graph();
    let mut verifier = Verifier::new(graph);
    let oracle = Oracle::new(graph, AliasRule::Llvm);
    let Some(known) = graph.tags().find(|&tag| verifier.check(tag).is_ok()) else { return };
    for tag in graph.tags().filter(|&tag| tag != known) {
        let accepted = oracle.explain(tag, known).clause != Clause::Malformed;
        assert_eq!(accepted, verifier.check(tag).is_ok(), "seed {seed}: {tag:?}\n{source}");
    }
}

fn has_both_formats(module: &Module<'_>) -> bool {
    let graph = module.graph();
    let format = |tag| {
        Some(graph.ty(graph.type_of(graph.operand(graph.tag_node(tag), 1)?.node()?)?).format())
    };
    let formats: Vec<_> = graph.tags().filter_map(format).collect();
    [Format::Old, Format::New].iter().all(|format| formats.contains(format))
}

/// Returns LLVM's verdict on each module, as lines.
pub(super) fn ask(program: &Program, sources: &[String]) -> Vec<Vec<String>> {
    let text: String = sources.iter().map(|source| format!(";; module\n{source}")).collect();
    let printed = program.ask(&[], &scratch("verify.ll", text.as_bytes()));
    let lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    let is_last = |line: &String| line == "unreadable" || line.starts_with("module ");
    let answers: Vec<_> = lines.split_inclusive(is_last).map(<[String]>::to_vec).collect();
    assert_eq!(answers.len(), sources.len());
    answers
}

#[test]
fn damaged_modules() {
    let Some(program) = Program::get("verify") else { return };
    let (first, count) = (setting("TBAA_SEED", 1), setting("TBAA_MODULES", 2_000));
    let mut tally = Tally::default();
    let seeds: Vec<usize> = (first..first + count).collect();
    for batch in seeds.chunks(BATCH) {
        let text = |&seed: &usize| {
            let mut rng = Rng(seed as u64);
            let (mut lines, tags) =
                if rng.one_in(2) { by_hand() } else { well_formed(&mut rng, 4) };
            damage::nodes(&mut rng, &mut lines, false);
            module(&mut rng, &(lines.join("\n") + "\n"), &tags)
        };
        let sources: Vec<String> = batch.iter().map(text).collect();
        for ((&seed, source), answers) in batch.iter().zip(&sources).zip(ask(&program, &sources)) {
            tally.compare(seed, source, &answers);
        }
    }
    println!("{count} modules: {tally:?}");
    let Tally { unreadable, tags, rejected, rules, .. } = tally;
    assert!(rejected > 0 && rejected < tags && unreadable < count / 4);
    if count >= 2_000 {
        for &rule in Rule::ALL.iter().filter(|&&rule| rule < Rule::CopyOperandCount) {
            // `ErrnoEmpty` is about the list of errno tags, and `rules` counts tags alone.
            assert!(rule == Rule::ErrnoEmpty || rules.contains_key(&rule), "{rule:?} never broken");
        }
    }
}
