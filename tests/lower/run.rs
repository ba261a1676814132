//! LLVM 22 optimises programs with tags made by `tbaa_lower`, and runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa::declare::{Declarations, Policy, Record, Target};
use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_lower::{Lowering, Options, Saved, tags_of_clang};

use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::process::text_of;
use tbaa_tests::programs::{FIELD_HERE, FIELD_THERE, HERE, PATHS, PUN, THERE, types, with_tags};

fn tool(name: &str, arguments: &[&str], files: &[&Path]) -> String {
    text_of(Command::new(name).args(arguments).args(files)).unwrap()
}

/// Links, optimises and runs modules. Returns the optimised text, and the program's output.
fn optimise_and_run(name: &str, modules: &[String]) -> (String, String) {
    let linked = link(name, modules);
    let optimised = tool("opt-22", &["-O2", "-S"], &[&linked]);
    let file = scratch(&format!("lower/{name}-O2.ll"), optimised.as_bytes());
    let printed = tool("lli-22", &[], &[&file]);
    (optimised, printed)
}

/// Links modules, which LLVM's verifier must accept.
fn link(name: &str, modules: &[String]) -> PathBuf {
    let files = modules.iter().enumerate();
    let files = files.map(|(at, text)| scratch(&format!("lower/{name}-{at}.ll"), text.as_bytes()));
    let linked = Llvm::get().unwrap().link(&files.collect::<Vec<_>>());
    let linked = scratch(&format!("lower/{name}-linked.ll"), &linked);
    tool("opt-22", &["-passes=verify", "-disable-output"], &[&linked]);
    linked
}

/// Returns the number of loads of `i32` in a function of the optimised text, after a label.
fn loads(optimised: &str, function: &str, label: &str) -> usize {
    let start = optimised.find(&format!(" @{function}(")).expect(function);
    let body = optimised[start..].split("\n}").next().unwrap();
    let body = &body[body.find(label).expect(label)..];
    body.lines().filter(|line| line.contains(" = load i32")).count()
}

/// Loads a stored lowering. Returns it, an oracle on its source graph, and the graph's tag `index`.
fn resumed(saved: Saved<'static>, index: usize) -> (Lowering, Oracle, TagId) {
    let (lowering, source) = Lowering::load(saved).unwrap();
    let tag = source.tag_at(index).unwrap();
    (lowering, Oracle::new(source, AliasRule::Union), tag)
}

/// Lowers the tag in addition, and returns the lowering and the tag.
fn grown((mut lowering, oracle, tag): (Lowering, Oracle, TagId)) -> (Lowering, TagId) {
    lowering.lower(&oracle, [tag]).unwrap();
    (lowering, tag)
}

#[test]
fn a_pun_that_llvm_would_miscompile() {
    let Some(_) = Llvm::get() else { return };
    let (mut declared, mut graph) = types();
    let mut tags = PATHS.map(|path| (path, declared.tag(&mut graph, path).unwrap()));
    tags.sort_unstable();
    let source = |path: &str| tags[tags.binary_search_by_key(&path, |tag| tag.0).unwrap()].1;

    let none = with_tags(PUN, &graph, |_| None);
    let (plain, printed) = optimise_and_run("pun-none", &[none]);
    assert_eq!(printed, "00000005 8 15\n", "without tags nothing goes wrong");
    assert_eq!(loads(&plain, "sum", ""), 1, "nothing is said of the loop: the load stays in it");
    assert_eq!(loads(&plain, "sum", "\nloop:"), 1);

    let rfc = with_tags(PUN, &graph, |path| Some(source(path)));
    let (_, printed) = optimise_and_run("pun-rfc", &[rfc]);
    assert_eq!(printed, "3f800000 8 15\n", "LLVM takes the pun for two memories");

    let oracle = Oracle::new(&graph, AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    lowering.lower(&oracle, tags.map(|tag| tag.1)).unwrap();
    let lowered = with_tags(PUN, lowering.graph(), |path| lowering.tag(source(path)));
    let (optimised, printed) = optimise_and_run("pun-lowered", &[lowered]);
    assert_eq!(printed, "00000005 8 15\n");
    assert_eq!(loads(&optimised, "sum", "\nloop:"), 0, "the load that may be lost is lost");
}

#[test]
fn linked_modules() {
    let Some(_) = Llvm::get() else { return };
    let (mut declared, mut graph) = types();
    let mut tag = |path| declared.tag(&mut graph, path).unwrap();
    let (f, int, count) = (tag("U.f"), tag("*int"), tag("T.count"));
    let oracle = Oracle::new(graph, AliasRule::Union);
    let lowering = |options: Options, tags: &[TagId]| {
        let mut lowering = Lowering::new(options);
        lowering.lower(&oracle, tags).unwrap();
        lowering
    };
    let module = |program, lowering: &Lowering, by: &[(&str, TagId)]| {
        let tag = |path: &str| by.iter().find(|by| by.0 == path).unwrap().1;
        with_tags(program, lowering.graph(), |path| lowering.tag(tag(path)))
    };
    let by = [("U.f", f), ("*int", int)];

    // Two independent *lineages* (lowerings with a root each): `here` lowers `U.f` first, and
    // `there` lowers `*int` first, so each of the two is the first node below its root.
    let (here, there) = (lowering(Options::new(), &[f, count]), lowering(Options::new(), &[int]));
    let modules = [module(HERE, &here, &by), module(THERE, &there, &by)];
    let (optimised, printed) = optimise_and_run("lineages", &modules);
    assert!(!optimised.contains("call void @put"), "it is inlined");
    assert_eq!(printed, "00000005\n");

    // One lineage: a later process loads it, and grows it for the second module.
    let here = lowering(Options::new().lineage("one"), &[f, count]);
    let stored = ron::to_string(&here.save(&oracle)).unwrap();
    let load = |text: &str| -> Saved<'static> { ron::from_str(text).unwrap() };
    let (there, later) = grown(resumed(load(&stored), int.index()));
    let modules = [module(HERE, &here, &by), module(THERE, &there, &[("*int", later)])];
    let (optimised, printed) = optimise_and_run("grown", &modules);
    assert!(!optimised.contains("call void @put"), "it is inlined");
    assert_eq!(printed, "00000005\n");

    // Two processes load the same lineage: each makes a fork.
    let fork = |name: &str, index: usize| grown(resumed(load(&stored).fork(name), index));
    let ((one, tag_one), (two, tag_two)) = (fork("a", f.index()), fork("b", int.index()));
    let modules =
        [module(HERE, &one, &[("U.f", tag_one)]), module(THERE, &two, &[("*int", tag_two)])];
    assert_eq!(optimise_and_run("forks", &modules).1, "00000005\n");
    let strange = |lowering: &Lowering, module: &str| {
        lowering.stranger(tbaa_ir::read(module.as_bytes()).unwrap().graph())
    };
    assert_eq!((strange(&one, &modules[1]), strange(&two, &modules[0])), (None, None));

    // Without forks the result is wrong, both if one state is loaded twice and if two lineages of
    // one name begin alike. Each lowering detects the other's tags in the linked module.
    let begun = || lowering(Options::new().lineage("one"), &[count]);
    let began = ron::to_string(&begun().save(&oracle)).unwrap();
    let twice = |tag: TagId| grown(resumed(load(&began), tag.index()));
    let alike = |tag: TagId| {
        let mut lowering = begun();
        lowering.lower(&oracle, [tag]).unwrap();
        (lowering, tag)
    };
    for (name, [here, there]) in [("twice", [f, int].map(twice)), ("alike", [f, int].map(alike))] {
        let modules = [
            module(HERE, &here.0, &[("U.f", here.1)]),
            module(THERE, &there.0, &[("*int", there.1)]),
        ];
        assert_eq!(optimise_and_run(name, &modules).1, "3f800000\n", "LLVM takes them for one");
        assert_eq!([strange(&here.0, &modules[0]), strange(&there.0, &modules[1])], [None, None]);
        let linked = std::fs::read_to_string(link(name, &modules)).unwrap();
        for lowering in [&here.0, &there.0] {
            assert!(strange(lowering, &linked).is_some_and(|ty| ty.starts_with("1 ")), "{name}");
        }
    }

    // If the roots of two lowerings have the same name, LLVM takes the lowerings for one.
    let clash = |lowering: &Lowering, by: &[(&str, TagId)], program| {
        let text = module(program, lowering, by);
        let line = text.lines().find(|line| line.contains("root 0")).unwrap().to_owned();
        let bare = format!("{} = !{{!\"one root\"}}", line.split_once(" = ").unwrap().0);
        text.replace(&line, &bare)
    };
    let (here, there) =
        (lowering(Options::new(), &[f, count]), lowering(Options::new(), &by.map(|by| by.1)[1..]));
    let modules = [clash(&here, &by, HERE), clash(&there, &by, THERE)];
    assert_eq!(optimise_and_run("clash", &modules).1, "3f800000\n", "LLVM takes them for one");
}

/// Two lineages, which are independent or forks of one, access one field of a shared record.
#[test]
fn two_open_lineages() {
    let Some(_) = Llvm::get() else { return };
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::structure("S").field("k", "int").field("n", "int [2]")).unwrap();
    let path = "S.n[*]";
    let made = |lineage: &str| {
        let mut graph = Graph::new();
        let (theirs, pairs) = tags_of_clang(&types, &mut graph, |_| true).unwrap();
        let tag = types.clone().into_tagged(Policy::Rfc).tag(&mut graph, path).unwrap();
        let mut lowering = Lowering::new(Options::new().lineage(lineage));
        let oracle = Oracle::new(graph, AliasRule::Union);
        lowering.fix(&oracle, theirs, pairs).unwrap();
        (lowering, oracle, tag)
    };
    let lowered = |lineage| grown(made(lineage));
    let (open, oracle, tag) = made("base");
    let stored = ron::to_string(&open.save(&oracle)).unwrap();
    let forked = |lineage| {
        let saved: Saved<'static> = ron::from_str(&stored).unwrap();
        grown(resumed(saved.fork(lineage), tag.index()))
    };
    for (name, [here, there]) in
        [("apart", ["a", "b"].map(lowered)), ("forked", ["a", "b"].map(forked))]
    {
        let module = |program, (lowering, tag): &(Lowering, TagId)| {
            with_tags(program, lowering.graph(), |_| lowering.tag(*tag))
        };
        let modules = [module(FIELD_HERE, &here), module(FIELD_THERE, &there)];
        assert!(modules.iter().all(|module| module.contains(", !tbaa !")), "{name}");
        let linked = link(&format!("open-{name}"), &modules);
        assert_eq!(tool("lli-22", &["-O0"], &[&linked]), "2\n", "{name} at -O0");
        let (optimised, printed) = optimise_and_run(&format!("open-{name}"), &modules);
        assert!(!optimised.contains("call void @put"), "it is inlined");
        assert_eq!(printed, "2\n", "{name} at -O2");
    }
}
