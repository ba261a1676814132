//! Compares the verifier with LLVM 22's, tag by tag and message by message, on modules whose nodes
//! were damaged at every position.
//!
//! `TBAA_MODULES` is the number of modules, `TBAA_SEED` the first seed.

use std::fmt::Write;

use tbaa::explain::Clause;
use tbaa::{AliasRule, Format, Oracle, TagId};
use tbaa_check::lint::lint;
use tbaa_check::verify::{Rule, Verifier, verify};
use tbaa_check::{Code, Level};
use tbaa_ir::{Instruction, Module, Opcode};
use tbaa_tests::llvm::{Program, scratch};
use tbaa_tests::random::{self, Shape, Universe};
use tbaa_tests::{Rng, damage, setting};

/// Modules that one run of LLVM reads.
const BATCH: usize = 250;

/// An offset of more than 64 bits. LLVM counts with it; here it is not an integer,
/// for no object has such a byte, so that the tag is rejected.
const WIDE: &str = "i128 36893488147419103232";

const EMPTY_ERRNO: &str = "!llvm.errno.tbaa = !{}\n";

/// Instructions that may have a tag, and some that may not; `#` is replaced by a unique number.
const INSTRUCTIONS: &str = include_str!("../fixtures/text/taggable.txt");

/// A module with one instruction for each of some numbered tags.
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
        // Any node: nothing is upgraded here.
        let nodes = metadata.lines().count();
        let (a, b) = (rng.below(nodes), rng.below(nodes));
        let _ = writeln!(out, "!llvm.errno.tbaa = !{{!{a}, !{b}}}");
    }
    out + metadata
}

/// A random well-formed graph's metadata, and its tags.
pub(super) fn well_formed(rng: &mut Rng) -> (Vec<String>, Vec<String>) {
    let format = if rng.one_in(2) { Format::Old } else { Format::New };
    let universe = Universe { format, structs: 1 + rng.below(4), tags: 8, shape: Shape::Any };
    let written = tbaa_ir::write(&random::graph(rng, &universe));
    let lines = written.lines().skip(1);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("!tbaa.types"));
    let numbers = random::numbers(&written).into_iter().map(str::to_owned);
    (lines.map(str::to_owned).collect(), numbers.collect())
}

/// Returns a few hand-written nodes: both formats under one root, old scalars of two operands, a
/// union; every tag reaches all of it.
pub(super) fn by_hand() -> (Vec<String>, Vec<String>) {
    // The last ones are ill formed from the start, because damage seldom makes such types: one that
    // contains itself, and one of two operands that is not a scalar.
    let lines = include_str!("../fixtures/text/by_hand.ll");
    // Types are attached too, as in the scalar format and by mistake.
    let tags = "!8 !9 !10 !11 !12 !13 !14 !15 !17 !19 !21 !23 !2 !3";
    (lines.lines().map(str::to_owned).collect(), tags.split(' ').map(str::to_owned).collect())
}

/// Damages a few operands anywhere.
fn damaged(rng: &mut Rng, lines: &mut [String]) {
    for _ in 0..rng.below(4) {
        let which = rng.below(lines.len());
        if rng.one_in(20) {
            lines[which] = format!("!{which} = !{{}}");
        }
        let other = format!("!{}", rng.below(lines.len()));
        let line = &mut lines[which];
        let Some((head, mut operands)) = damage::operands(line) else { continue };
        let at = rng.below(operands.len() + 1);
        let is_int = operands.get(at).is_some_and(|operand| operand.starts_with("i64"));
        let new = match rng.below(16) {
            // Half of the integers stay integers, so that deeper rules are met.
            _ if is_int && rng.one_in(2) => format!("i64 {}", 4 * rng.below(6)),
            0..=2 => other,
            3 => format!("!{which}"),
            4 => format!("i64 {}", rng.below(24)),
            5 => format!("i32 {}", 4 * rng.below(3)),
            6 => "i64 -8".to_owned(),
            7 => "i128 8".to_owned(),
            8 => WIDE.to_owned(),
            9 => "i1 true".to_owned(),
            10 => "!\"string\"".to_owned(),
            11 => "ptr null".to_owned(),
            12 => "double 1.0".to_owned(),
            13 => "!{}".to_owned(),
            14 => "null".to_owned(),
            _ => operands.get(at).cloned().unwrap_or(other),
        };
        match rng.below(4) {
            0 => operands.insert(at, new),
            1 if at < operands.len() => drop(operands.remove(at)),
            _ if at < operands.len() => operands[at] = new,
            _ => operands.push(new),
        }
        *line = damage::node(rng, head, &operands);
    }
}

/// Returns whether LLVM takes a tag on the instruction.
fn takes_tag(text: &[u8], instruction: &Instruction) -> bool {
    let line = &text[instruction.offset as usize..];
    match instruction.opcode {
        Opcode::Other => false,
        Opcode::Call => !line.starts_with(b"invoke"),
        _ => true,
    }
}

#[derive(Default)]
struct Tally {
    modules: usize,
    unreadable: usize,
    tags: usize,
    rejected: usize,
    crashes: usize,
    /// Rejected here for an offset that is too wide, and by LLVM for another
    /// reason or not at all.
    wide: usize,
    /// Rejected here; LLVM reads an operand as a node that is not one.
    undefined: usize,
    /// LLVM's verdict on the whole module differs from the one on its tags.
    explained: usize,
    rules: std::collections::BTreeMap<Rule, usize>,
}

impl Tally {
    fn compare(&mut self, seed: usize, source: &str, answers: &[&str]) {
        self.modules += 1;
        if answers == ["unreadable"] {
            self.unreadable += 1;
            assert!(is_refused(source), "seed {seed}: only LLVM refuses this\n{source}");
            return;
        }
        let text = source.as_bytes();
        let module =
            tbaa_ir::read(text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{source}"));
        let mut verifier = Verifier::new(module.graph());
        let attached = module
            .instructions()
            .iter()
            .filter_map(|instruction| Some((Some(instruction), instruction.tag?)));
        let errno = module.errno_tags().iter().map(|&tag| (None, tag));
        let cases: Vec<(Option<&Instruction>, TagId)> = attached.chain(errno).collect();
        let (verdict, answers) = answers.split_last().unwrap();
        assert_eq!(cases.len(), answers.len(), "seed {seed}\n{source}");
        let (mut loud, mut crashed) = (source.contains(EMPTY_ERRNO), *verdict == "module crash");
        for (&(user, tag), theirs) in cases.iter().zip(answers) {
            let mut ours = verifier.check(tag).map_err(|violation| violation.rule);
            if ours != Err(Rule::TagEmpty) && user.is_some_and(|user| !takes_tag(text, user)) {
                ours = Err(Rule::Instruction);
            }
            self.tags += 1;
            self.rejected += usize::from(ours.is_err());
            let words = match ours {
                Ok(()) => "accept".to_owned(),
                Err(rule) => {
                    *self.rules.entry(rule).or_default() += 1;
                    loud |= !rule.llvm_message().is_empty();
                    format!("reject {}", rule.llvm_message())
                }
            };
            let alike = match theirs.strip_prefix("reject ") {
                // The old and the new format have words of their own.
                Some(message) => words[7..].split("; ").any(|words| words == message),
                None if *theirs == "crash" => {
                    crashed = true;
                    self.crashes += 1;
                    true
                }
                None => words == *theirs,
            };
            if !alike && source.contains(WIDE) && ours.is_err() {
                self.wide += 1;
                continue;
            }
            // After a size-aware scalar, LLVM continues with operand 0, and reads it as a node.
            if !alike && ours == Err(Rule::FieldType) {
                self.undefined += 1;
                crashed = true;
                continue;
            }
            assert!(alike, "seed {seed}, {tag:?}: here {words:?}, LLVM {theirs:?}\n{source}");
        }
        tables_agree(seed, source, &module);
        self.reports_agree(seed, source, &module, &cases);
        if !crashed {
            let theirs = *verdict == "module reject";
            // LLVM remembers a type's verdict for the format that was checked first, and rejects
            // some types without a message.
            self.explained += usize::from(loud != theirs);
            assert!(
                loud == theirs || loud && (has_both_formats(&module) || source.contains(WIDE)),
                "seed {seed}: {verdict}\n{source}"
            );
        }
    }

    /// Checks that `verify` reports exactly what `check` rejects.
    fn reports_agree(
        &mut self,
        seed: usize,
        source: &str,
        module: &Module<'_>,
        cases: &[(Option<&Instruction>, TagId)],
    ) {
        let found = verify(module, AliasRule::Llvm);
        let mut reported: Vec<Rule> = found
            .iter()
            .filter_map(|found| match found.code {
                Code::Rule(rule) if found.level == Level::Error => Some(rule),
                _ => None,
            })
            .collect();
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
            assert!(
                source.get(span.clone()).is_some_and(|source| !source.is_empty()),
                "seed {seed}: {span:?}"
            );
        }
    }
}

/// Returns whether a text is refused here, or has a finding.
pub(super) fn is_refused(source: &str) -> bool {
    let text = source.as_bytes();
    tbaa_ir::read(text).map_or(true, |module| {
        !verify(&module, AliasRule::Llvm).is_empty()
            || !lint(&module, &tbaa_check::lint::Options::default()).is_empty()
    })
}

/// Rule `llvm`'s tables, which do not walk each path to its end, reject what
/// `check` rejects.
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

/// Returns LLVM's verdict on each of some modules, line by line.
pub(super) fn ask(program: &Program, sources: &[String]) -> Vec<Vec<String>> {
    let text: String = sources.iter().map(|source| format!(";; module\n{source}")).collect();
    let printed = program.ask(&[], &scratch("verify.ll", text.as_bytes()));
    let is_last = |line: &&str| *line == "unreadable" || line.starts_with("module ");
    let mut lines = printed.lines();
    let answers = sources.iter().map(|_| {
        let mut answers = Vec::new();
        for line in lines.by_ref() {
            answers.push(line.to_owned());
            if is_last(&line) {
                break;
            }
        }
        answers
    });
    let answers = answers.collect();
    assert_eq!(lines.next(), None);
    answers
}

#[test]
fn damaged_modules() {
    let Some(program) = Program::get("verify") else { return };
    let (first, count) = (setting("TBAA_SEED", 1), setting("TBAA_MODULES", 2_000));
    let mut tally = Tally::default();
    let seeds: Vec<usize> = (first..first + count).collect();
    for batch in seeds.chunks(BATCH) {
        let sources: Vec<String> = batch
            .iter()
            .map(|&seed| {
                let mut rng = Rng(seed as u64);
                let (mut lines, tags) =
                    if rng.one_in(2) { by_hand() } else { well_formed(&mut rng) };
                damaged(&mut rng, &mut lines);
                module(&mut rng, &(lines.join("\n") + "\n"), &tags)
            })
            .collect();
        for ((&seed, source), answers) in batch.iter().zip(&sources).zip(ask(&program, &sources)) {
            let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
            tally.compare(seed, source, &answers);
        }
    }
    let Tally { modules, unreadable, tags, rejected, crashes, wide, undefined, explained, rules } =
        &tally;
    println!(
        "{modules} modules, of which LLVM cannot read {unreadable}: {tags} tags, {rejected} of them \
         rejected; no difference in verdict or message but on {wide} with offsets over 64 bits and {undefined} where LLVM reads what is no node; LLVM's verifier dies on {crashes}; the \
         verdict on {explained} whole modules depends on their order"
    );
    for (rule, count) in rules {
        println!("  {} {count}", Code::Rule(*rule));
    }
    assert!(*rejected > 0 && rejected < tags && *unreadable < modules / 4);
    if count >= 2_000 {
        for &rule in Rule::ALL.iter().filter(|&&rule| rule < Rule::CopyOperandCount) {
            // The list of errno's tags is no tag, and is not counted.
            assert!(rule == Rule::ErrnoEmpty || rules.contains_key(&rule), "{rule:?} never broken");
        }
    }
}
