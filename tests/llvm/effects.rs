//! Compares the memory effects of functions and calls, as read from text, with LLVM 22's.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use tbaa_ir::{Effects, MemoryEffects, Opcode, Sizes};
use tbaa_tests::cases;
use tbaa_tests::llvm::{Program, scratch};

/// LLVM's answers on a function, and on each call in it.
struct Answers {
    name: String,
    effects: u32,
    calls: Vec<u32>,
}

fn ask(program: &Program, text: &str) -> Vec<Answers> {
    let file = scratch("effects.ll", text.as_bytes());
    let mut answers: Vec<Answers> = Vec::new();
    for line in program.ask(&[], &file).lines() {
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["function", effects, name] => {
                let (name, effects) = (name.to_owned(), effects.parse().unwrap());
                answers.push(Answers { name, effects, calls: Vec::new() });
            }
            ["call", effects] => answers.last_mut().unwrap().calls.push(effects.parse().unwrap()),
            _ => panic!("{line}"),
        }
    }
    answers
}

/// Compares the effects of functions and calls with LLVM's, and returns the numbers of compared
/// functions and calls. LLVM turns calls of `llvm.dbg` into debug records, and replaces calls of
/// old intrinsics. If a function contains such a call, none of its calls is compared. `is_exact`
/// says for which functions and callees the effects must be equal. Else, ours may include more.
fn compare(program: &Program, text: &str, is_exact: impl Fn(&str) -> bool) -> [usize; 2] {
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let effects = Effects::new(&module);
    let sizes = Sizes::new(&module);
    let check = |ours: MemoryEffects, theirs: u32, name: &str, what: &str| {
        let ours = ours.to_bits();
        let holds = if is_exact(name) { ours == theirs } else { ours & theirs == theirs };
        assert!(holds, "{what}: {ours:012b}, LLVM says {theirs:012b}");
    };
    let bodies: HashMap<Vec<u8>, u32> = module.functions().map(<[u8]>::to_vec).zip(0..).collect();
    let mut counts = [0; 2];
    let all = ask(program, text);
    let names: HashSet<&str> = all.iter().map(|answers| &*answers.name).collect();
    // LLVM declares some functions that are not in the text: they are not compared.
    let written: HashSet<&str> = text
        .split('@')
        .filter_map(|after_at| after_at.trim_start_matches('"').split(['(', '"']).next())
        .collect();
    for answers in all.iter().filter(|answers| written.contains(&*answers.name)) {
        let name = answers.name.as_bytes();
        check(effects.of_function(name), answers.effects, &answers.name, &answers.name);
        counts[0] += 1;
        let Some(&function) = bodies.get(name) else { continue };
        let body = module.function(&sizes, function);
        let calls = body.instructions.iter().filter(|call| call.opcode == Opcode::Call);
        let is_there = |callee: &[u8]| {
            !callee.starts_with(b"llvm.") || names.contains(str::from_utf8(callee).unwrap())
        };
        let calls: Vec<_> = calls
            .map(|call| (body.call(call).unwrap(), String::from_utf8_lossy(body.text_of(call))))
            .collect();
        if calls.iter().any(|(call, _)| !is_there(call.callee)) {
            continue;
        }
        assert_eq!(calls.len(), answers.calls.len(), "{}", answers.name);
        for ((call, line), &theirs) in calls.iter().zip(&answers.calls) {
            let callee = str::from_utf8(call.callee).unwrap();
            check(effects.of_call(call), theirs, callee, line);
            counts[1] += 1;
        }
    }
    counts
}

#[test]
fn of_all_intrinsics() {
    let Some(program) = Program::get("effects") else { return };
    let [text, left_out] = program.list();
    let printed = compare(&program, &text, |_| true);
    // Without attributes in the text, LLVM knows all intrinsics; we know all but those of targets.
    let mut plain = String::new();
    for line in text.lines() {
        if line.starts_with("attributes ") {
            continue;
        }
        let end = line.rfind(" #").filter(|_| line.starts_with("declare ")).unwrap_or(line.len());
        plain.push_str(&line[..end]);
        plain.push('\n');
    }
    let targets = "aarch64 amdgcn amdgpu arm bpf dx hexagon loongarch mips nvvm ppc r600 riscv s390 \
                   spv ve wasm x86 xcore";
    let of_target = |name: &str| {
        let family = name.split('.').nth(1).unwrap_or_default();
        targets.split_whitespace().any(|target| target == family)
    };
    let silent = compare(&program, &plain, |name| !of_target(name));
    println!("functions and calls of intrinsics: {printed:?}; left out: {}", left_out.trim());
    assert!(printed == silent && printed[1] > 16_000, "{printed:?} {silent:?}");
}

/// Tests which intrinsics return. LLVM prints a function's attributes in a comment before it.
#[test]
fn of_all_intrinsics_that_return() {
    let Some(program) = Program::get("effects") else { return };
    let [text, _] = program.list();
    let (mut returns, mut before) = (HashMap::new(), "");
    for line in text.lines() {
        let name =
            line.strip_prefix("declare ").and_then(|strip_prefix| strip_prefix.split_once('@'));
        if let Some((name, _)) = name.and_then(|name| name.1.split_once('(')) {
            let has = |word| before.split(' ').any(|part| part == word);
            returns.insert(name.as_bytes(), has("willreturn") && has("nounwind"));
        }
        before = line;
    }
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let (effects, sizes) = (Effects::new(&module), Sizes::new(&module));
    let mut counts = [0; 3];
    for number in 0..module.functions().len() as u32 {
        let body = module.function(&sizes, number);
        for call in body.instructions.iter().filter_map(|instruction| body.call(instruction)) {
            let Some(&theirs) = returns.get(call.callee) else { continue };
            let name = String::from_utf8_lossy(call.callee);
            let ours = effects.always_returns(&call);
            assert!(theirs || !ours, "{name}");
            counts[usize::from(theirs) + usize::from(ours)] += 1;
        }
    }
    let [may_not, unknown, returning] = counts;
    println!("{may_not} intrinsics may not return, {returning} do, and {unknown} are not known to");
    assert!(may_not > 50 && returning > 10_000 && unknown < 100, "{counts:?}");
}

#[test]
fn of_all_forms_of_attributes() {
    let Some(program) = Program::get("effects") else { return };
    let parts: HashMap<_, _> = cases::all("effects.txt").into_iter().collect();
    let [forms, bundles] = ["forms", "bundles"]
        .map(|name| parts[name].iter().map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>());
    let mut text = parts["intrinsics"].concat();
    for (at, form) in forms.iter().enumerate() {
        _ = writeln!(text, "declare void @f{at}(ptr readonly) {form}");
        _ = writeln!(text, "define void @define{at}(ptr readnone %p) unnamed_addr {form} align 16");
        text.push_str("  gc \"statepoint-example\" personality ptr @f0 {\n");
        for (of, form) in forms.iter().enumerate() {
            let bundle = bundles[(at + of) % bundles.len()];
            let argument = ["readnone", ""][of % 2];
            _ = writeln!(text, "  call void @f{at}(ptr {argument} %p) {form}\n    {bundle}");
            if of % 5 == 0 {
                let bundle = bundles[of % (bundles.len() - 1)];
                _ = writeln!(text, "  invoke void @f{at}(ptr %p) {form}{bundle}");
                _ = writeln!(text, "    to label %l{of} unwind label %u\nl{of}:");
            }
        }
        text.push_str(
            "  ret void\nu:\n  %e = landingpad { ptr, i32 }\n    cleanup\n  ret void\n}\n",
        );
    }
    text += &(parts["groups"].concat() + "!0 = !{}\n");
    let [functions, calls] = compare(&program, &text, |_| true);
    println!("{functions} functions, {calls} calls");
    assert!(functions > 80 && calls > 2_000);
}
