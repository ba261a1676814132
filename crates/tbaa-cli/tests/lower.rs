//! Tests `tbaa lower`: the new tag for each access, the reason, and LLVM 22's answers afterwards.

mod tools;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use tbaa::declare::Policy;
use tbaa::spec::Spec;
use tbaa::{Graph, TagId};
use tbaa_tests::cases;
use tbaa_tests::llvm::aa_eval;
use tools::{printed, scratch, tbaa};

const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lower");

fn lower(options: &[&str], file: &str) -> String {
    printed(tbaa(&["lower"]).args(options).arg(file))
}

/// Returns the pairs of stores that LLVM calls `NoAlias`. A store's value names the store.
fn no_alias(file: &str, pipeline: &str) -> BTreeSet<[String; 2]> {
    let found = aa_eval("opt-22", &[], pipeline, Path::new(file)).expect("opt-22");
    let stored = |store: String| {
        let value = store.strip_prefix("store ").unwrap().split_once(", ptr").unwrap().0;
        value.rsplit(' ').next().unwrap().trim_end_matches(')').to_owned()
    };
    let apart = found.into_iter().filter(|found| found.answer == "NoAlias");
    let pairs = apart.map(|apart| {
        let mut pair = apart.pair.map(stored);
        pair.sort();
        pair
    });
    pairs.collect()
}

/// Returns a test case's module: its code, the nodes in file `types`, and other nodes in `text`.
fn module(types: &str, text: &str) -> String {
    let types = fs::read_to_string(Path::new(TYPES).join(types)).unwrap();
    if text.starts_with("define") {
        return format!("{text}{types}");
    }
    let (nodes, body): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('!'));
    let body: String = body.iter().map(|line| format!("  {line}\n")).collect();
    format!("define void @f(ptr %p) {{\n{body}  ret void\n}}\n{types}{}\n", nodes.join("\n"))
}

#[test]
fn lowered_is_what_is_written_down() {
    let Some(()) = tools::find(&["opt-22"]) else { return };
    cases::check("lower.txt", |_, parts| {
        let (options, text) = parts[0].split_once('\n').unwrap();
        let (options, passes) = options.split_once(" then ").unwrap_or((options, ""));
        let (types, options) = options.split_once(' ').unwrap_or((options, ""));
        let before = module(types, text);
        let file = scratch("lower", "source.ll", &before);
        let mut said = lower(&["--format", "table"], &file);
        let scopes = options.contains("--scopes");
        let after = lower(&options.split_whitespace().collect::<Vec<_>>(), &file);
        let known: HashSet<&str> = before.lines().collect();
        let new = after.lines().filter(|line| !known.contains(line));
        new.for_each(|line| said += &format!("{line}\n"));
        let lowered = scratch("lower", "lowered.ll", &after);
        if !passes.is_empty() {
            let mut opt = Command::new("opt-22");
            let done = printed(opt.args(["-S", &format!("-passes={passes}")]).arg(&lowered));
            let lines = done.lines().filter(|line| !line.is_empty() && !line.contains(".ll"));
            lines.for_each(|line| said += &format!("{line}\n"));
            return said;
        }
        let apart = no_alias(&lowered, "scoped-noalias-aa,tbaa");
        said.extend(apart.iter().map(|[a, b]| format!("{a} and {b}: NoAlias\n")));
        if scopes {
            // The scopes alone, without tags, give the same answers.
            assert_eq!(no_alias(&lowered, "scoped-noalias-aa"), apart);
        }
        said
    });
}

/// Lowering removes the cause of error TBAA013, as the error's help promises.
#[test]
fn lowered_unions_check() {
    let lowered = |text: &str| {
        let file = scratch("lowered_unions", "unions.ll", text);
        let before = tbaa(&["check", &file]).output().unwrap();
        let before = String::from_utf8(before.stdout).unwrap();
        assert!(before.contains("TBAA013") && before.contains("help: `tbaa lower`"), "{before}");
        let lowered = tbaa(&["lower", &file]).output().unwrap();
        let text = String::from_utf8(lowered.stdout).unwrap();
        let after = scratch("lowered_unions", "lowered.ll", &text);
        assert_eq!(printed(&mut tbaa(&["check", &after])), "");
        String::from_utf8(lowered.stderr).unwrap()
    };
    let text = include_str!("lower/unions.ll");
    assert!(!lowered(text).contains("TBAA108"));
    let wide = lowered(&text.replace("store i32 1", "store i64 1"));
    assert!(wide.contains("TBAA108") && wide.contains("8 bytes"), "{wide}");
}

#[test]
fn tags_of_declared_types_are_clangs() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let flags = ["-O1", "-Xclang", "-disable-llvm-passes", "-w", "-S", "-emit-llvm", "-o", "-"];
    let (mut tagged, mut members, mut wrong) = (0, 0, Vec::new());
    for file in tools::files("../../tests/corpus", &["c"]) {
        // `declare` leaves out records that clang tags differently. Its exit status is then 1.
        let declared = tbaa(&["declare", "--format", "ron"]).arg(&file).output().unwrap();
        let built = Spec::load(str::from_utf8(&declared.stdout).unwrap()).unwrap();
        let types = built.tagged().unwrap().types().clone().into_tagged(Policy::Clang);
        let text = printed(Command::new("clang-22").args(flags).arg(&file));
        let theirs = tbaa_ir::read(text.as_bytes()).unwrap();
        // The module omits most calls without a tag: look instructions up by function and index.
        let tags = theirs.instructions().iter().map(|it| ((it.function, it.index), it.tag));
        let tags: HashMap<_, _> = tags.collect();
        let place = |graph: &Graph, tag: TagId| {
            let of = graph.tag(tag).unwrap();
            let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap()).into_owned();
            (name(of.base), name(of.access), of.offset)
        };
        let bare = text.lines().map(|line| line.split(", !tbaa ").next().unwrap());
        let bare = bare.collect::<Vec<_>>().join("\n");
        let bare = tbaa_ir::read(bare.as_bytes()).unwrap();
        let ours = tbaa_tag::tag_declared(&bare, types).unwrap();
        for it in &ours.tags {
            let at = &bare.instructions()[it.instruction];
            let theirs = tags[&(at.function, at.index)].map(|tag| place(theirs.graph(), tag));
            let ours = place(&ours.graph, it.tag);
            let line =
                bare.text()[at.offset as usize..].split(|&byte| byte == b'\n').next().unwrap();
            let what = format!("{}: {}", file.display(), String::from_utf8_lossy(line));
            // Clang's base type may be an undeclared record that contains the declared one. Clang
            // does not tag `va_arg` or bit-fields, even if a bit-field is a union's whole member.
            let is_right = match &theirs {
                Some((base, ..)) if built.tagged().unwrap().types().named(base).is_none() => {
                    *base != ours.0 && ours.0 != ours.1 || theirs.as_ref() == Some(&ours)
                }
                Some(theirs) => *theirs == ours,
                None => matches!(&*ours.0, "omnipotent char" | "__va_list_tag" | "argument"),
            };
            wrong.extend((!is_right).then(|| format!("{what}: {ours:?}, {theirs:?}")));
        }
        tagged += ours.tags.len();
        members += tags.values().flatten().filter(|&&tag| place(theirs.graph(), tag).2 > 0).count();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tagged >= members, "{tagged} tagged, and {members} members beside the first ones");
}

/// LLVM is slow with long lists of scopes, so `tbaa lower` prints a note about such a list.
#[test]
fn many_scopes_are_pointed_out() {
    for (scalars, is_noted) in [(64, false), (65, true)] {
        let (mut code, mut nodes) = (String::new(), String::from("!0 = !{!\"R\"}\n"));
        for at in 1..=scalars {
            let (ty, tag) = (2 * at - 1, 2 * at);
            code += &format!("  store i32 1, ptr %p, !tbaa !{tag}\n");
            nodes += &format!("!{ty} = !{{!\"t{at}\", !0, i64 0}}\n");
            nodes += &format!("!{tag} = !{{!{ty}, !{ty}, i64 0}}\n");
        }
        let text = format!("define void @f(ptr %p) {{\n{code}  ret void\n}}\n{nodes}");
        let file = scratch("many-scopes", "many.ll", &text);
        let output = tbaa(&["lower", "--scopes", &file]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.contains("scopes at each query"), is_noted, "{scalars}: {said}");
    }
}
