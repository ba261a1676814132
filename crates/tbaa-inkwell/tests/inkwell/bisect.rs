//! Finds a wrong tag by bisection: runs a program with only some of its tags attached.

use std::process::Command;

use inkwell::context::Context;
use tbaa::declare::Policy;
use tbaa::{AliasRule, Oracle};
use tbaa_inkwell::{LlvmSink, Tagger};
use tbaa_lower::emit::{Bisect, Jit};
use tbaa_lower::{Lowering, Options};

use crate::runtime;
use crate::support::{Code, TBAA, attach_planned};

/// Runs a program with a wrong tag on a store of 7. Returns the result (7 if the tag does no harm),
/// the last attachment that a bisection by number keeps, and the number of requested attachments.
fn program(bisect: Bisect) -> (u64, String, u64) {
    let (mut graph, mut types, tags) = runtime::tags(Policy::Rfc);
    let [number, kind] =
        ["TValue.value.n", "TValue.tt"].map(|path| types.tag(&mut graph, path).unwrap());
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags).unwrap();
    let context = Context::create();
    let tagger = Tagger::with_sink(LlvmSink::new(&context), bisect);
    let code = Code::new(&context, 2);
    let mut accesses = Vec::new();
    for value in 0..5 {
        accesses.push((number, code.store(code.parameter(0), 64, value)));
        accesses.push((kind, code.store(code.address(code.parameter(1), 8), 16, value)));
    }
    // The wrong tag: a store of a number (`TValue.value.n`) gets the tag of `TValue.tt`.
    accesses.push((kind, code.store(code.parameter(1), 64, 7)));
    let (value, load) = code.load(code.parameter(0), 64, "");
    // The load's attachment comes first: without its tag, no store's tag does harm.
    accesses.insert(0, (number, load));
    for (tag, instruction) in accesses {
        attach_planned(&tagger, &lowering, tag, instruction).unwrap();
    }
    code.end(value);
    let last = tagger.last_kept().unwrap_or_default().to_owned();
    code.optimise();
    (code.run(&mut [0; 16]), last, tagger.bisect().asked())
}

#[test]
fn a_wrong_tag_is_found_by_number() {
    assert_eq!(program(Bisect::first(0)).0, 7);
    let (result, _, attachments) = program(Bisect::all());
    assert_eq!((result, attachments), (4, 12));
    let (mut good, mut bad) = (0, attachments);
    while bad - good > 1 {
        let middle = u64::midpoint(good, bad);
        match program(Bisect::first(middle)).0 {
            7 => good = middle,
            _ => bad = middle,
        }
    }
    let (_, culprit, _) = program(Bisect::first(bad));
    assert_eq!(bad, 12);
    assert!(culprit.starts_with("f: store i64 7, ptr %1, align 4, !tbaa !"), "{culprit}");
}

#[test]
fn a_wrong_tag_is_found_by_hash() {
    let bad = |pattern: &str| program(Bisect::hash(pattern).unwrap()).0 != 7;
    assert!(bad(""));
    // Prepend digits to the pattern as long as the longer pattern breaks the program too.
    let mut pattern = String::new();
    while let Some(digit) = ["0", "1"].into_iter().find(|digit| bad(&format!("{digit}{pattern}"))) {
        pattern = format!("{digit}{pattern}");
        assert!(pattern.len() < 64);
    }
    assert!(!bad(&format!("0{pattern}")) && !bad(&format!("1{pattern}")));
}

/// A bisection does not omit alignment and volatility, because they do not concern aliasing.
#[test]
fn what_is_left_off() {
    let place = Jit::new(runtime::types()).place("volatile TValue.tt").unwrap();
    let context = Context::create();
    let tagger = Tagger::with_sink(LlvmSink::new(&context), Bisect::first(1));
    let code = Code::new(&context, 1);
    for number in 0..2 {
        let store = code.store(code.parameter(0), 16, 1);
        tagger.attach(&place, store).unwrap();
        assert_eq!(store.get_metadata(TBAA).is_some(), number == 0);
        assert_eq!((store.get_volatile(), store.get_alignment()), (Ok(true), Ok(8)));
    }
}

#[test]
fn the_environment_variable() {
    let run = |setting: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "bisect::child", "--nocapture"])
            .env(Bisect::VARIABLE, setting)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("2").contains("kept 2\n"));
    assert!(run("").contains("kept 3\n"));
    assert!(run("two").contains("TBAA_BISECT: \"two\" is no setting; give"));
}

/// The test `the_environment_variable` runs this in another process.
#[test]
#[ignore = "another test starts it"]
fn child() {
    let (graph, _, tags) = runtime::tags(Policy::Clang);
    let context = Context::create();
    let mut tagger = match Tagger::new(&context) {
        Ok(tagger) => tagger,
        Err(error) => return println!("{error}"),
    };
    let code = Code::new(&context, 1);
    let mut kept = 0;
    for _ in 0..3 {
        let store = code.store(code.parameter(0), 16, 1);
        attach_planned(&tagger, &graph, tags[0], store).unwrap();
        kept += usize::from(store.get_metadata(TBAA).is_some());
        // The limit in `TBAA_BISECT` counts the attachments of all taggers in the process.
        tagger = Tagger::new(&context).unwrap();
    }
    println!("kept {kept}");
}
