//! Tests access classes in LLVM metadata: this repository's plugin for LLVM gives the answers of
//! rule `union` or `union-strict`, and programs optimised with it give the right results.
//!
//! Tags with equal answers form a class, and an access names its class by a scope. A relation, a
//! node of `!tbaa.relations`, has a name (its domain) and a row for each class: the class and the
//! lower-numbered ones that it may alias. `TBAA_PAIRS` and `TBAA_PROGRAMS` are numbers of pairs and
//! programs, `TBAA_SEED` is the seed.

mod tools;

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tbaa::declare::Record;
use tbaa::{AliasRule, Oracle};
use tbaa_lower::AccessClasses;
use tbaa_tests::Rng;
use tbaa_tests::llvm::{Evaluated, aa_eval, stored};
use tbaa_tests::programs::{
    FIELD_HERE, FIELD_THERE, HERE, PATHS, PUN, THERE, attached, types, with_tags,
};
use tbaa_tests::universe::{self, Taste};
use tools::{folder, number, plugin};
/// A relation: its domain, its rows, and the metadata number of its first class's list of scopes.
type Relation = (String, Vec<String>, usize);

/// Adds a relation with an empty domain, and returns the metadata number of its first class's list
/// of scopes. The lists of the next classes have the next numbers.
fn lists(relations: &mut Vec<Relation>, rows: &[String]) -> usize {
    let first = relations.last().map_or(1_000_000, |relation| relation.2 + relation.1.len());
    relations.push((String::new(), rows.to_vec(), first));
    first
}

/// Returns the metadata of relations. Each class has a list of one scope.
fn metadata(relations: &[Relation]) -> String {
    let all: Vec<_> = (0..relations.len()).map(|at| format!("!{at}")).collect();
    let mut text = format!("!tbaa.relations = !{{{}}}\n", all.join(", "));
    for (at, (domain, rows, first)) in relations.iter().enumerate() {
        let node = 500_000 + at;
        text += &format!("!{node} = !{{!\"{domain}\"}}\n");
        let listed: String = rows.iter().map(|row| format!(", !\"{row}\"")).collect();
        text += &format!("!{at} = !{{!\"{domain}\"{listed}}}\n");
        for class in 0..rows.len() {
            let (scope, list) = (10_000_000 + first + class, first + class);
            text += &format!("!{scope} = !{{!\"{domain}:{class}\", !{node}}}\n");
            text += &format!("!{list} = !{{!{scope}}}\n");
        }
    }
    text
}

#[test]
fn the_plugin_answers_what_the_rule_answers() {
    let Some(()) = tools::find(&["opt-22", "llvm-config-22"]) else { return };
    let (plugin, wanted) = (plugin(), number("TBAA_PAIRS", 200_000));
    let (mut seed, mut asked, mut apart) = (number("TBAA_SEED", 1), 0, 0);
    while asked < wanted {
        // A module may have several random graphs, each with its own relation.
        let (mut functions, mut relations, mut worlds) = (String::new(), Vec::new(), Vec::new());
        let mut stores = 0;
        while stores < 2_000 && asked < wanted {
            seed += 1;
            let mut rng = Rng(seed);
            let universe = universe::random(&mut rng, seed % 2 == 0, Taste::Wild);
            let (graph, tags) = universe.graph();
            let rules = if seed % 3 == 0 { AliasRule::UnionStrict } else { AliasRule::Union };
            let oracle = Oracle::new(graph, rules);
            let mut classes = AccessClasses::new(&seed.to_string());
            // The tags are added at once, or in two steps.
            let split = rng.below(tags.len() + 1);
            classes.add(&oracle, tags[..split].iter().copied()).unwrap();
            let before: Vec<String> = classes.rows().collect();
            classes.add(&oracle, tags[split..].iter().copied()).unwrap();
            let rows: Vec<String> = classes.rows().collect();
            assert_eq!(rows[..before.len()], before, "rows stay");
            functions += &format!("define void @f{seed}(ptr %p) {{\n");
            let first = lists(&mut relations, &rows);
            for (at, &tag) in tags.iter().enumerate() {
                let list = first + classes.of(tag).unwrap() as usize;
                let at = stores + at;
                functions += &format!("  store i32 {at}, ptr %p, !alias.scope !{list}\n");
            }
            functions += "  ret void\n}\n";
            relations.last_mut().unwrap().0 = classes.domain().to_owned();
            asked += (tags.len() * (tags.len() - 1) / 2) as u64;
            worlds.push((seed, stores, oracle, tags.clone(), split));
            stores += tags.len();
        }
        let file = folder("classes").join("pairs.ll");
        fs::write(&file, functions + &metadata(&relations)).unwrap();
        let print = ["-print-no-aliases", "-load-pass-plugin", &plugin];
        let found = aa_eval("opt-22", &print, "tbaa-classes", &file).expect("opt-22");
        let pair = |found: Evaluated| found.pair.each_ref().map(|store| stored(store)).into();
        let told: HashSet<(usize, usize)> = found.into_iter().map(pair).collect();
        apart += told.len() as u64;
        for (seed, first, oracle, tags, split) in &worlds {
            for a in 0..tags.len() {
                for b in 0..a {
                    let [x, y] = [first + a, first + b];
                    let no = told.contains(&(x, y)) || told.contains(&(y, x));
                    let may = oracle.may_alias(tags[a], tags[b]);
                    assert!(!(no && may), "seed {seed}: {a} and {b} may alias");
                    // If tags were added in two steps, the classes may answer MayAlias too often.
                    // If they were added at once, the answers are exact.
                    let grown = *split > 0 && *split < tags.len();
                    assert!(no || may || grown, "seed {seed}: {a} and {b} are apart");
                }
            }
        }
    }
    println!("{asked} pairs, {apart} of them apart");
    assert!(apart > asked / 50);
}

/// Returns the text of a program with random accesses. Its exit status depends on their results.
/// Which classes may alias is random. Each slot (a global variable) is accessed with a few classes
/// that may all alias one another. With `lie`, a slot's classes may also be NoAlias.
fn program(rng: &mut Rng, lie: bool) -> String {
    let classes = 3 + rng.below(6_usize);
    let mut may = vec![vec![false; classes]; classes];
    let pairs = (0..classes).flat_map(|a| (0..=a).map(move |b| (a, b)));
    for (a, b) in pairs {
        let on = a == b || rng.one_in(3);
        (may[a][b], may[b][a]) = (on, on);
    }
    let mut slot = |_| {
        let mut own: Vec<usize> = Vec::new();
        for _ in 0..6 {
            let class = rng.below(classes);
            let fits = lie || own.iter().all(|&own| may[own][class]);
            if fits && !own.contains(&class) {
                own.push(class);
            }
        }
        own
    };
    let slots: Vec<Vec<usize>> = (0..6).map(&mut slot).collect();
    let mut text = String::new();
    for slot in 0..slots.len() {
        text += &format!("@s{slot} = global i64 {slot}\n");
    }
    // The callers of these functions choose the slots, so LLVM cannot separate the pointers itself.
    let functions: Vec<Vec<usize>> =
        (0..4).map(|_| (0..3).map(|_| rng.below(slots.len())).collect()).collect();
    let mut at = 0;
    for (function, slots_of) in functions.iter().enumerate() {
        let inlined = if function % 2 == 0 { "alwaysinline" } else { "noinline" };
        text +=
            &format!("define i64 @f{function}(ptr %p0, ptr %p1, ptr %p2, i64 %n) {inlined} {{\n");
        text += "entry:\n  br label %loop\nloop:\n  %i = phi i64 [ 0, %entry ], [ %i1, %end ]\n  \
                 %x0 = phi i64 [ %n, %entry ], [ %last, %end ]\n";
        let mut value = "%x0".to_owned();
        let steps = |rng: &mut Rng, text: &mut String, value: &mut String, at: &mut usize| {
            for _ in 0..2 + rng.below(5_u64) {
                *at += 1;
                let parameter = rng.below(3_usize);
                let class = 1000 + *rng.pick(&slots[slots_of[parameter]]);
                if rng.one_in(2) {
                    *text +=
                        &format!("  %l{at} = load i64, ptr %p{parameter}, !alias.scope !{class}\n");
                    *text += &format!("  %m{at} = mul i64 {value}, 31\n");
                    *text += &format!("  %a{at} = add i64 %m{at}, %l{at}\n");
                    *value = format!("%a{at}");
                } else {
                    let what = if rng.one_in(2) { value.clone() } else { at.to_string() };
                    *text +=
                        &format!("  store i64 {what}, ptr %p{parameter}, !alias.scope !{class}\n");
                }
            }
        };
        steps(rng, &mut text, &mut value, &mut at);
        // Add two branches that may have the same accesses, so that LLVM may merge them.
        text += &format!(
            "  %b = and i64 {value}, 1\n  %c = icmp eq i64 %b, 0\n  br i1 %c, label %then, label %else\nthen:\n"
        );
        let (mut one, mut two) = (value.clone(), value.clone());
        let mut twin = Rng(rng.0);
        steps(rng, &mut text, &mut one, &mut at);
        text += "  br label %end\nelse:\n";
        let way = if rng.one_in(2) { &mut twin } else { &mut *rng };
        steps(way, &mut text, &mut two, &mut at);
        text +=
            &format!("  br label %end\nend:\n  %e = phi i64 [ {one}, %then ], [ {two}, %else ]\n");
        value = "%e".to_owned();
        steps(rng, &mut text, &mut value, &mut at);
        text += &format!(
            "  %last = add i64 {value}, 0\n  %i1 = add i64 %i, 1\n  %more = icmp ult i64 %i1, 5\n  \
             br i1 %more, label %loop, label %exit\nexit:\n  ret i64 %last\n}}\n"
        );
    }
    // For each pair of `@f` functions, add a function that calls both and passes on its parameters.
    // `main`, which is not optimised, passes the slots to that function.
    for pair in [0, 2] {
        let other = pair + 1;
        text += &format!(
            "define i64 @g{pair}(ptr %a, ptr %b, ptr %c, ptr %d, ptr %e, ptr %f) noinline {{\n  \
             %x = call i64 @f{pair}(ptr %a, ptr %b, ptr %c, i64 3)\n  \
             %y = call i64 @f{other}(ptr %d, ptr %e, ptr %f, i64 %x)\n  \
             %z = call i64 @f{pair}(ptr %a, ptr %b, ptr %c, i64 %y)\n  ret i64 %z\n}}\n"
        );
    }
    text += "define i32 @main() noinline optnone {\n";
    let mut sum = "0".to_owned();
    for pair in [0, 2] {
        let pointers = functions[pair].iter().chain(&functions[pair + 1]);
        let pointers: Vec<_> = pointers.map(|slot| format!("ptr @s{slot}")).collect();
        let pointers = pointers.join(", ");
        text += &format!("  %r{pair} = call i64 @g{pair}({pointers})\n");
        text += &format!("  %h{pair} = mul i64 {sum}, 7\n");
        text += &format!("  %t{pair} = add i64 %h{pair}, %r{pair}\n");
        sum = format!("%t{pair}");
    }
    for slot in 0..slots.len() {
        text += &format!("  %v{slot} = load i64, ptr @s{slot}\n  %w{slot} = mul i64 {sum}, 13\n");
        text += &format!("  %u{slot} = add i64 %w{slot}, %v{slot}\n");
        sum = format!("%u{slot}");
    }
    text += &format!(
        "  %z = srem i64 {sum}, 251\n  %y = trunc i64 %z to i32\n  %q = add i32 %y, 251\n  %o = srem i32 %q, 251\n  ret i32 %o\n}}\n"
    );
    let row = |class: usize| {
        let lower = (0..class).filter(|&it| may[class][it]);
        [class].into_iter().chain(lower).map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
    };
    let rows = (0..classes).map(row).collect();
    text + &metadata(&[("tbaa:random".to_owned(), rows, 1000)])
}

/// Returns a program's exit status. Without a `level`, the program is not optimised.
fn outcome(file: &Path, level: Option<&str>, plugin: &str) -> i32 {
    let made = file.with_extension("bc");
    let mut opt = Command::new("opt-22");
    opt.arg(file).arg("-o").arg(&made);
    match level {
        Some(level) => opt.args([level, "-load-pass-plugin", plugin]),
        None => opt.arg("-passes=verify"),
    };
    tools::printed(&mut opt);
    Command::new("lli-22").arg(&made).status().unwrap().code().expect("it ends by itself")
}

#[test]
fn random_programs_do_what_they_did() {
    let Some(()) = tools::find(&["opt-22", "lli-22", "llvm-config-22"]) else { return };
    let (plugin, seed) = (plugin(), number("TBAA_SEED", 1));
    let file = folder("classes").join("program.ll");
    for seed in seed..seed + number("TBAA_PROGRAMS", 20) {
        fs::write(&file, program(&mut Rng(seed), false)).unwrap();
        let right = outcome(&file, None, &plugin);
        for level in ["-O2", "-O3"] {
            assert_eq!(outcome(&file, Some(level), &plugin), right, "seed {seed}, {level}");
        }
    }
    // Check that the test would notice a fault: wrong classes change some optimised programs.
    let lies = (0..40).filter(|seed| {
        fs::write(&file, program(&mut Rng(1_000_000 + seed), true)).unwrap();
        outcome(&file, Some("-O2"), &plugin) != outcome(&file, None, &plugin)
    });
    assert!(lies.count() >= 5);
}

fn output(modules: &[String], level: &str, plugin: Option<&str>) -> String {
    let linked = linked(modules);
    let made = folder("classes").join("optimised.bc");
    let mut opt = Command::new("opt-22");
    opt.arg(level).arg(&linked).arg("-o").arg(&made);
    opt.args(plugin.iter().flat_map(|plugin| ["-load-pass-plugin", *plugin]));
    tools::printed(&mut opt);
    tools::printed(Command::new("lli-22").arg(&made))
}

fn linked(modules: &[String]) -> std::path::PathBuf {
    let file = |(at, text): (usize, &String)| {
        let file = folder("classes").join(format!("module{at}.ll"));
        fs::write(&file, text).unwrap();
        file
    };
    let files: Vec<_> = modules.iter().enumerate().map(file).collect();
    let linked = folder("classes").join("linked.ll");
    tools::printed(Command::new("llvm-link-22").args(files).arg("-S").arg("-o").arg(&linked));
    linked
}
/// Runs the test programs of `tbaa lower` with access classes alone, then also with lowered tags.
#[test]
fn the_programs_of_the_lowering_do_what_they_did() {
    let Some(()) = tools::find(&["opt-22", "lli-22", "llvm-link-22", "llvm-config-22"]) else {
        return;
    };
    let plugin = plugin();
    let programs: [(&[&str], &str); 3] = [
        (&[PUN], "00000005 8 15\n"),
        (&[HERE, THERE], "00000005\n"),
        (&[FIELD_HERE, FIELD_THERE], "2\n"),
    ];
    let (mut declared, mut graph) = types();
    let array = Record::structure("S").field("k", "int").field("n", "int [2]");
    declared.types_mut().define(array).unwrap();
    let paths: Vec<&str> = PATHS.into_iter().chain(["S.n[*]"]).collect();
    let tags: Vec<_> = paths.iter().map(|path| declared.tag(&mut graph, path).unwrap()).collect();
    let tag = |path: &str| tags[paths.iter().position(|it| *it == path).unwrap()];
    let oracle = Oracle::new(&graph, AliasRule::Union);
    for (program, right) in programs {
        let mut classes = AccessClasses::new("one");
        let mut modules = Vec::new();
        for text in program {
            // Each module has the classes of its own tags and of those in the modules before it.
            let named = text.split("@{").skip(1).map(|it| tag(it.split('}').next().unwrap()));
            classes.add(&oracle, named).unwrap();
            let list = |path: &str| {
                Some(format!(", !alias.scope !{}", 1000 + classes.of(tag(path)).unwrap()))
            };
            let rows: Vec<String> = classes.rows().collect();
            let relation = metadata(&[(classes.domain().to_owned(), rows, 1000)]);
            modules.push(attached(text, list) + "\n" + &relation);
        }
        for level in ["-O2", "-O3"] {
            assert_eq!(output(&modules, level, Some(&plugin)), right, "{level}, classes alone");
        }

        let tagged = |text: &&str| with_tags(text, &graph, |path| Some(tag(path)));
        let source = linked(&program.iter().map(tagged).collect::<Vec<_>>());
        let lower = |more: &[&str]| tools::printed(tools::tbaa(&["lower"]).arg(&source).args(more));
        let (lowered, classed) = (lower(&[]), lower(&["--classes"]));
        for level in ["-O2", "-O3"] {
            let modules = [classed.clone()];
            assert_eq!(output(&modules, level, Some(&plugin)), right, "{level}, both");
            // Without the plugin, classes do not change the code.
            let code = |text: &str| {
                let file = folder("classes").join("code.ll");
                fs::write(&file, text).unwrap();
                let mut opt = Command::new("opt-22");
                let made = tools::printed(opt.arg(level).arg("-S").arg(&file));
                // Leave out metadata, and the empty line before it.
                let lines = made.lines().filter(|line| !line.starts_with('!'));
                let lines = lines.map(|line| line.split(", !").next().unwrap()).collect::<Vec<_>>();
                lines.join("\n").trim_end().to_owned()
            };
            assert_eq!(code(&classed), code(&lowered), "{level} without the plugin");
        }
    }
}
