//! Tests LLVM plugin `tbaa-plugin` in `opt` and `clang`, and access classes (`lower --classes`):
//! tags with equal answers form a class, and rows of metadata say which classes may alias.

mod tools;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa::{AliasResult, AliasRule, Oracle};
use tbaa_plugin::{Runs, Toolchain};
use tools::printed;

const AS_WRITTEN: [&str; 3] = ["-O2", "-Xclang", "-disable-llvm-passes"];

fn llvm() -> Option<()> {
    tools::find(&["opt-22", "llvm-link-22", "clang-22", "llvm-config-22"])
}

fn scratch(name: &str) -> PathBuf {
    tools::folder("plugin").join(name)
}

fn file(name: &str, content: &str) -> String {
    tools::scratch("plugin", name, content)
}

fn tbaa(args: &[&str]) -> String {
    printed(tools::tbaa(args).env("XDG_CACHE_HOME", scratch("cache")))
}

fn run(program: &str, args: &[&str]) -> String {
    printed(Command::new(program).args(args))
}

/// Returns a module after `opt -O2` with the plugin.
fn optimised(module: &str) -> String {
    run("opt-22", &["-O2", "-S", "-load-pass-plugin", &tools::plugin(), module])
}

fn loads(module: &str, function: &str) -> usize {
    let start = module.find(&format!("@{function}(")).expect("the function is there");
    let body = &module[start..];
    body[..body.find("\n}").unwrap()].matches(" = load ").count()
}

/// Returns a function with loads from `%p` (scope list `a`) around a store to `%q` (list `b`).
fn reload(name: &str, a: &str, b: &str) -> String {
    let list =
        |list: &str| if list.is_empty() { String::new() } else { format!(", !alias.scope {list}") };
    let (a, b) = (list(a), list(b));
    format!(
        "define i32 @{name}(ptr %p, ptr %q) {{
  %a = load i32, ptr %p{a}
  store i32 7, ptr %q{b}
  %b = load i32, ptr %p{a}
  %c = add i32 %a, %b
  ret i32 %c
}}
"
    )
}

const RELATION: &str = "!tbaa.relations = !{!0}\n!0 = !{!\"tbaa:F\", !\"0\", !\"1\", !\"2 0\"}\n";

const SCOPES: &str = include_str!("lower/scopes.ll");

#[test]
fn relations_are_asked_in_opt_and_clang() {
    let Some(()) = llvm() else { return };
    // Each case: a function, its two scope lists, and the number of loads left.
    let functions = include_str!("lower/lists.txt").lines().map(|line| {
        let [name, a, b, left] = line.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        (name, a, b, left.parse().unwrap())
    });
    let functions: Vec<(&str, &str, &str, usize)> = functions.collect();
    let text: String = functions.iter().map(|(name, a, b, _)| reload(name, a, b)).collect();
    let text = text + RELATION + SCOPES;
    let module = file("relations.ll", &text);
    let plugin = tools::plugin();
    let pipeline = "-passes=default<O2> -aa-pipeline=basic-aa,tbaa-classes";
    for way in [
        format!("opt-22 -O2 -S -load-pass-plugin {plugin}"),
        format!("opt-22 {pipeline} -S -load-pass-plugin {plugin}"),
        format!("clang-22 -O2 -S -emit-llvm -o - -Wno-override-module -fpass-plugin={plugin}"),
    ] {
        let words: Vec<&str> = way.split(' ').chain([&*module]).collect();
        let made = run(words[0], &words[1..]);
        for &(name, _, _, left) in &functions {
            assert_eq!(loads(&made, name), left, "{name} by {way}");
        }
    }
    let without = run("opt-22", &["-O2", "-S", &module]);
    let is_as_before = functions.iter().all(|function| loads(&without, function.0) == 2);
    assert!(is_as_before, "LLVM alone learns nothing");
}

#[test]
fn rows_that_cannot_be_read_or_disagree_part_nothing_more() {
    let Some(()) = llvm() else { return };
    let text = |relations: &str| {
        reload("f", "!31", "!30") + &reload("g", "!32", "!31") + relations + SCOPES
    };
    // Each case: the number of loads left in `f` and in `g`, and the relations.
    let cases = include_str!("lower/rows.txt").split("=== ").skip(1);
    for (at, case) in cases.enumerate() {
        let (left, relations) = case.split_once('\n').unwrap();
        let made = optimised(&file(&format!("rows{at}.ll"), &text(relations)));
        let loads = ["f", "g"].map(|function| loads(&made, function).to_string());
        assert_eq!(loads.join(" "), left, "{relations}");
    }
}

/// LLVM clones the scopes of `noalias` parameters for each inlined copy, and cannot compare copies.
/// Access classes are not cloned.
#[test]
fn classes_survive_inlining_and_linking() {
    let Some(()) = llvm() else { return };
    let source = include_str!("lower/inline.c");
    let source = file("inline.c", source);
    let lowered = tbaa(&[&["lower", "--classes", &source, "--"], &AS_WRITTEN[..]].concat());
    let bare: String = lowered.lines().map(|line| without_tag(line) + "\n").collect();
    let bare = file("inline.ll", &bare);
    let without = run("opt-22", &["-O2", "-S", &bare]);
    assert_eq!(loads(&without, "twice"), 2, "the copies' scopes differ");
    let made = optimised(&bare);
    assert_eq!(loads(&made, "twice"), 1);
    assert_eq!(optimised(&bare), made, "two runs give the same bytes");

    let linked = scratch("linked.ll");
    let other = file("other.ll", &lowered.replace("@twice", "@again"));
    run("llvm-link-22", &["-S", &bare, &other, "-o", linked.to_str().unwrap()]);
    let made = optimised(linked.to_str().unwrap());
    assert_eq!(["twice", "again"].map(|it| loads(&made, it)), [1, 1]);
}

/// Compiles Lua's interpreter and tables with access classes twice, in `opt` and in `clang`.
#[test]
fn two_runs_give_the_same_bytes() {
    let Some(()) = llvm() else { return };
    let sources = tbaa_tests::lua::sources("lua-5.4.9");
    let wanted = ["lvm.c", "ltable.c"];
    for source in sources.iter().filter(|source| wanted.iter().any(|name| source.ends_with(name))) {
        let source = source.to_str().unwrap();
        let lowered = tbaa(&[&["lower", "--classes", source, "--"], &AS_WRITTEN[..]].concat());
        let module = file("twice.ll", &lowered);
        let plugin = format!("-fpass-plugin={}", tools::plugin());
        let clang = ["-O2", "-S", "-o", "-", "-Wno-override-module", &plugin, &module];
        assert!(optimised(&module) == optimised(&module), "{source} in opt");
        assert!(run("clang-22", &clang) == run("clang-22", &clang), "{source} in clang");
    }
}

/// LLVM clones the scopes that front ends make (with `MDBuilder`) for each inlined copy. Then it
/// cannot compare a copy with another, or with the caller. Access classes are not cloned.
#[test]
fn scopes_forget_when_a_function_is_inlined_and_classes_do_not() {
    let Some(()) = llvm() else { return };
    let program = include_str!("lower/inlined.ll");
    let with = |name: &str, [a, b]: [&str; 2], nodes: &str| {
        let text = program.replace("%aA", &format!("%a, {a}")).replace("%bB", &format!("%b, {b}"));
        file(name, &(text + nodes))
    };
    let scopes = with(
        "forget.ll",
        ["!alias.scope !3, !noalias !4", "!alias.scope !4, !noalias !3"],
        "!0 = distinct !{!0}\n!1 = distinct !{!1, !0}\n!2 = distinct !{!2, !0}\n!3 = !{!1}\n!4 = !{!2}",
    );
    let classes =
        with("keep.ll", ["!alias.scope !30", "!alias.scope !31"], &format!("{RELATION}{SCOPES}"));
    let left = |module: &str| {
        let made = optimised(module);
        ["once", "twice"].map(|it| loads(&made, it))
    };
    assert_eq!(left(&scopes), [1, 2], "scopes forget");
    assert_eq!(left(&classes), [1, 1], "classes do not");
}

fn without_tag(line: &str) -> String {
    match line.split_once(", !tbaa !") {
        Some((before, after)) => {
            before.to_owned() + after.trim_start_matches(|byte: char| byte.is_ascii_digit())
        }
        None => line.to_owned(),
    }
}

/// Like [`compare_asked`], for the pairs of tags that `opt -O2` queries in a module.
fn compare(tools: &Toolchain, name: &str, text: &[u8]) -> [u64; 3] {
    let mut runs = Runs::new(tools, &scratch("asked"), text, "default<O2>").unwrap();
    compare_asked(name, runs.tags().unwrap())
}

/// Compares LLVM's answers in the plugin's log `asked` with those of [`Oracle`]. Returns the
/// numbers of pairs, of queries, and of queries with the answer NoAlias.
fn compare_asked(name: &str, asked: Vec<u8>) -> [u64; 3] {
    let asked = String::from_utf8(asked).unwrap();
    let mut module = tbaa_ir::read(asked.as_bytes()).unwrap();
    let number = |word: &str| word.trim().trim_start_matches('!').parse::<u32>().unwrap();
    let list = asked.lines().find_map(|line| line.strip_prefix("!tbaa.asked = !{"));
    let list: Vec<u32> = list.unwrap().trim_end_matches('}').split(", ").map(number).collect();
    let definitions: HashMap<u32, &str> = asked
        .lines()
        .filter_map(|line| line.strip_prefix('!')?.split_once(" = !{"))
        .filter_map(|(number, body)| Some((number.parse().ok()?, body.trim_end_matches('}'))))
        .collect();
    let mut questions = Vec::new();
    for pair in &list {
        let [a, b, answer, count] = definitions[pair].split(", ").collect::<Vec<_>>()[..] else {
            panic!("{}", definitions[pair])
        };
        let tags = [a, b].map(|tag| module.tag(number(tag)).unwrap());
        let count: u64 = count.strip_prefix("i64 ").unwrap().parse().unwrap();
        questions.push((tags, answer == "!\"NoAlias\"", count));
    }
    let oracle = Oracle::new(module.graph(), AliasRule::Llvm);
    for (tags, apart, _) in &questions {
        let ours = oracle.alias(tags[0], tags[1]) == AliasResult::NoAlias;
        assert_eq!(ours, *apart, "{name}: {:?}", tags.map(|tag| module.graph().tag(tag)));
    }
    let decided = questions.iter().filter(|question| question.1).map(|question| question.2).sum();
    [questions.len() as u64, questions.iter().map(|question| question.2).sum(), decided]
}

/// Like [`compare`], but for `clang -O2` and a C file or a module.
fn compare_in_clang(file: &Path, flags: &[&str]) -> [u64; 3] {
    let asked = scratch("asked.ll");
    let mut clang = Command::new("clang-22");
    clang.args(["-O2", "-c", "-Wno-override-module", "-o", "/dev/null"]).args(flags).arg(file);
    clang.arg(format!("-fpass-plugin={}", tools::plugin()));
    clang.env("TBAA_WATCH", "1").env("TBAA_ASKED", &asked);
    printed(&mut clang);
    compare_asked(&file.to_string_lossy(), fs::read(asked).unwrap())
}

/// Tests Lua's interpreter and tables, and the modules in `TBAA_MODULES`, separated by spaces.
#[test]
fn what_llvm_is_asked_in_o2_we_answer_alike() {
    let Some(()) = llvm() else { return };
    let tools = Toolchain::find(&scratch("cache/tbaa")).unwrap();
    let print = |name: &str, [pairs, questions, decided]: [u64; 3]| {
        println!("{name}: {questions} questions about {pairs} pairs, {decided} decided by types");
        pairs
    };
    let wanted = ["lvm.c", "ltable.c"];
    let sources = tbaa_tests::lua::sources("lua-5.4.9");
    let sources = sources.iter().filter(|source| wanted.iter().any(|name| source.ends_with(name)));
    let mut all = 0;
    let formats = [&[][..], &["-Xclang", "-new-struct-path-tbaa"]];
    for (source, flags) in sources.flat_map(|source| formats.map(|flags| (source, flags))) {
        let mut clang = Command::new("clang-22");
        clang.args(AS_WRITTEN).args(["-S", "-emit-llvm", "-o", "-"]);
        let text = printed(clang.args(flags).arg(source));
        let name = format!("{} {}", source.display(), flags.join(" "));
        all += print(&format!("opt {name}"), compare(&tools, &name, text.as_bytes()));
        all += print(&format!("clang {name}"), compare_in_clang(source, flags));
    }
    assert!(all > 600, "{all}");
    for module in std::env::var("TBAA_MODULES").unwrap_or_default().split_whitespace() {
        print(&format!("opt {module}"), compare(&tools, module, &fs::read(module).unwrap()));
        print(&format!("clang {module}"), compare_in_clang(Path::new(module), &[]));
    }
}

#[test]
fn cmake_makes_the_plugin_too() {
    let Some(()) = llvm().and(tools::find(&["cmake"])) else { return };
    let source = tools::path("../tbaa-plugin");
    let [source, made] = [source, scratch("cmake")].map(|it| it.to_str().unwrap().to_owned());
    let llvm = run("llvm-config-22", &["--cmakedir"]);
    run("cmake", &["-S", &source, "-B", &made, &format!("-DLLVM_DIR={}", llvm.trim())]);
    run("cmake", &["--build", &made]);
    let module = file("cmake.ll", &(reload("f", "!30", "!31") + RELATION + SCOPES));
    let plugin = format!("{made}/tbaa-plugin.so");
    let text = run("opt-22", &["-O2", "-S", "-load-pass-plugin", &plugin, &module]);
    assert_eq!(loads(&text, "f"), 1);
}
