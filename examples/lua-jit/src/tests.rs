//! Programs under all switches, against each other and against Debian's Lua.

use std::process::Command;

use clap::ValueEnum;
use tbaa_tests::cases;

use crate::codegen::{Loads, Reload};
use crate::measure::{self, Outcome};
use crate::tags::{Switch, Tags};
use crate::{PROGRAMS, bytecode, programs};

/// What `lua5.4` prints, perhaps with all bits of floats; `None` if `lua5.4` is not installed.
fn lua(file: &str, argument: Option<i64>, bits: bool) -> Option<Vec<String>> {
    const PRINT: &str = include_str!("print.lua");
    let argument = argument.map(|argument| argument.to_string());
    let output = Command::new("lua5.4")
        .args(["-e", if bits { PRINT } else { "" }, file])
        .args(argument)
        .output();
    let Ok(output) = output else {
        let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
        assert!(!required, "lua5.4 is required and not there");
        eprintln!("not compared with Lua: there is no `lua5.4`");
        return None;
    };
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

fn bits(outcome: &Outcome) -> Vec<String> {
    outcome.output.iter().map(|(_, bits)| bits.clone()).collect()
}

/// Runs with a machine's stack that Lua calls may nest on.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 28).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn run(source: &str, switch: Switch) -> Result<Outcome, String> {
    let proto = bytecode::compile(source);
    let proto = proto.map_err(|mistake| mistake.render("test.lua", source))?;
    let tags = Tags::new(switch).unwrap();
    let run = measure::run(&proto, &tags, measure::reload(switch), None, &mut |_| {});
    run.map_err(|error| error.to_string())
}

/// Runs a file under a switch.
fn run_file(file: &str, switch: Switch, argument: Option<i64>) -> Outcome {
    let proto = measure::read(file).unwrap();
    let tags = Tags::new(switch).unwrap();
    let outcome = measure::run(&proto, &tags, measure::reload(switch), argument, &mut |_| {});
    outcome.unwrap_or_else(|error| panic!("{file} {switch}: {error}"))
}

fn switches() -> [Switch; 8] {
    Switch::value_variants().try_into().unwrap()
}

/// Base loads left in all functions of a program under each switch, in the order
/// of [`switches`].
const BASES: [(&str, i64, [usize; 8]); 6] = [
    ("fannkuch", 7, [100, 3, 100, 17, 14, 3, 3, 3]),
    ("matrix", 12, [105, 8, 105, 36, 36, 8, 8, 8]),
    ("nbody", 50, [352, 14, 352, 130, 130, 16, 16, 16]),
    ("sieve", 1000, [36, 3, 36, 8, 8, 3, 3, 3]),
    ("sum", 1000, [25, 3, 25, 6, 6, 3, 3, 3]),
    ("trees", 8, [59, 11, 59, 28, 28, 11, 11, 11]),
];

#[test]
fn programs_give_the_same_under_all_switches_and_in_lua() {
    with_stack(|| {
        let names = BASES.map(|(name, ..)| format!("{PROGRAMS}/{name}.lua"));
        assert_eq!(programs().unwrap(), names, "a program is not tested");
        let mut found = Vec::new();
        for ((name, argument, _), file) in BASES.into_iter().zip(&names) {
            let outcomes = switches().map(|switch| run_file(file, switch, Some(argument)));
            let first = bits(&outcomes[0]);
            assert!(!first.is_empty(), "{name} prints nothing");
            for (switch, outcome) in switches().into_iter().zip(&outcomes) {
                assert_eq!(bits(outcome), first, "{name} {switch}");
            }
            if let Some(lua) = lua(file, Some(argument), true) {
                assert_eq!(first, lua, "{name}");
            }
            let bases = outcomes.each_ref().map(|o| Loads::sum(&o.compiled.after).bases);
            found.push((name, argument, bases));
            // Clang's policy gains nothing; each of ours gains.
            let [none, by_hand, clang, ravi, lowered, scopes, both, classes] = bases;
            assert_eq!(clang, none, "{name}");
            assert!(lowered <= ravi && scopes <= lowered && both == scopes, "{name} {bases:?}");
            assert_eq!(classes, scopes, "{name}");
            // LLVM may copy a reload into two branches.
            assert!(scopes <= by_hand + 2, "{name} {bases:?}");
            let all = outcomes.each_ref().map(|o| Loads::sum(&o.compiled.after).all);
            assert!(all[5] < all[1] && all[6] == all[5] && all[7] == all[5], "{name} {all:?}");
        }
        assert_eq!(found, BASES);
    });
}

/// Loads left in a program's functions, in sum.
fn loads(name: &str, tags: &Tags, reload: Reload) -> Loads {
    let file = format!("{PROGRAMS}/{name}.lua");
    let proto = measure::read(&file).unwrap();
    let run = measure::run(&proto, tags, reload, Some(5), &mut |_| {});
    Loads::sum(&run.unwrap().compiled.after)
}

/// Lowered tags leave as few base loads as a compiler that reloads after each
/// call, for LLVM knows nothing of calls.
#[test]
fn lowered_tags_leave_the_reloads_after_calls() {
    with_stack(|| {
        let tags = Tags::new(Switch::Lowered).unwrap();
        for (name, ..) in BASES {
            let lowered = loads(name, &tags, Reload::EachOperation).bases;
            let by_hand = loads(name, &tags, Reload::AfterHelpers).bases;
            // LLVM copies one reload into two branches.
            assert!(lowered <= by_hand + usize::from(name == "trees"), "{name}: {lowered}");
            assert!(by_hand <= lowered, "{name}: not the fewest, {by_hand}");
        }
    });
}

/// On one relation between accesses, scopes leave no more loads than lowered tags.
#[test]
fn scopes_leave_no_more_loads_than_tags() {
    with_stack(|| {
        for (name, ..) in BASES {
            let [lowered, scopes] = [Switch::Lowered, Switch::Scopes]
                .map(|it| loads(name, &Tags::new(it).unwrap(), Reload::EachOperation).all);
            assert!(scopes <= lowered, "{name}: {scopes} {lowered}");
        }
    });
}

#[test]
fn a_function_that_calls_nothing_loads_its_base_once() {
    let source = include_str!("../tests/leaf.lua");
    let leaf = |switch| run(source, switch).unwrap().compiled.after[1].bases;
    for switch in [Switch::Lowered, Switch::Scopes, Switch::LoweredScopes, Switch::ByHand] {
        assert_eq!(leaf(switch), 1, "{switch}");
    }
    assert!(leaf(Switch::None) > 10 && leaf(Switch::Clang) > 10);
}

#[test]
fn the_language_is_as_in_lua() {
    with_stack(|| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language.lua");
        let (printed, lua) = (lua(file, None, false), lua(file, None, true));
        for switch in switches() {
            let outcome = run_file(file, switch, None);
            assert!(outcome.moves >= 5, "the stack moves");
            if let Some(lua) = &lua {
                assert_eq!(bits(&outcome), *lua, "{switch}");
            }
            if let Some(printed) = &printed {
                let texts: Vec<_> = outcome.output.into_iter().map(|(text, _)| text).collect();
                assert_eq!(texts, *printed, "{switch}");
            }
        }
    });
}

#[test]
fn ravi_s_annotations_mean_the_same_in_comments() {
    let plain = "local a: integer[] = {1} local x: number = a[1] print(x)";
    let comments = "local a --[[: integer[] ]] = {1} local x --[[: number]] = a[1] print(x)";
    for source in [plain, comments] {
        assert_eq!(run(source, Switch::None).unwrap().output[0].0, "1.0");
    }
}

/// Mistakes that the compiler reports where they stand, and failures of running programs.
#[test]
fn what_is_wrong_is_said() {
    with_stack(|| {
        cases::check("lua.txt", |title, parts| {
            let source = parts[0].trim_end();
            let [plain, tagged] = [Switch::None, Switch::LoweredScopes]
                .map(|switch| run(source, switch).map(|_| ()).unwrap_err());
            assert_eq!(plain, tagged, "{title}");
            plain
        });
    });
}
