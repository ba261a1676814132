//! Tests `tbaa bisect` on modules that `opt -O2` miscompiles, mostly because of a wrong tag, and on
//! commands that do not end. `sessions.rs` tests searches whose result is known.

mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tools::{scratch, tbaa};

/// Runs `tbaa bisect` on a file. Its runtime library is the one that cargo built beside this test.
fn bisect(file: &str, args: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let mut command = tbaa(&["bisect", file]);
    command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap()).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn llvm() -> Option<()> {
    tools::find(&["opt-22", "lli-22", "clang-22"])
}

fn planted() -> Vec<PathBuf> {
    tools::files("tests/bisect", &["ll"])
}

fn found_lines(report: &str) -> Vec<usize> {
    let places = report.lines().filter_map(|line| line.split_once(".ll:"));
    places.map(|(_, place)| place.split(':').next().unwrap().parse().unwrap()).collect()
}

fn runs(report: &str) -> usize {
    report.lines().last().unwrap().strip_suffix(" runs").unwrap().parse().unwrap()
}

#[test]
fn planted_miscompiles_are_found() {
    let Some(()) = llvm() else { return };
    let files = planted();
    assert!(files.len() > 10);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let guilty = (1..).zip(text.lines()).filter(|(_, line)| line.ends_with("; guilty"));
        let guilty: Vec<usize> = guilty.map(|(number, _)| number).collect();
        // No module names a target, so `opt` uses no vector instructions. Clang uses them.
        let recipe = if file.ends_with("vectorized.ll") { "native" } else { "run" };
        let out = bisect(file.to_str().unwrap(), &["--recipe", recipe]);
        let report = stdout(&out);
        let what = format!("{}: {report}{}", file.display(), stderr(&out));
        assert_eq!(out.status.code(), Some(1), "{what}");
        assert_eq!(found_lines(&report), guilty, "{what}");
        assert!(runs(&report) <= 24, "{what}");
        let union = report.lines().find(|line| line.starts_with("  union"));
        let wrong = "so the program or its tags are wrong";
        let (expected, verdict) = match file.file_stem().unwrap().to_str().unwrap() {
            // C allows a store of another type to reuse memory, but LLVM swaps the two stores.
            "reused" => (Some("NoA"), "so LLVM is wrong"),
            "sized" => (Some("May"), "rule union knows that bytes are shared"),
            "constant" => (None, wrong),
            _ => (Some("NoA"), wrong),
        };
        assert_eq!(union.map(|line| &line[9..12]), expected, "{what}");
        assert!(report.contains(verdict), "{what}");
    }
}

/// The first line of each file contains a part of the verdict that `tbaa bisect` must print.
#[test]
fn a_verdict_claims_what_was_shown() {
    let Some(()) = llvm() else { return };
    let verdicts =
        ["so LLVM is wrong", "so the program or its tags", "mend that", "not checked: the tags"];
    let files = tools::files("tests/verdict", &["c", "cpp", "ll"]);
    assert!(files.len() >= 14, "{}", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let expected = text.lines().next().unwrap().split_once("verdict: ").unwrap().1;
        let expected = expected.trim_end_matches(" */");
        let recipe = if file.extension().unwrap() == "ll" { "run" } else { "native" };
        let out = bisect(file.to_str().unwrap(), &["--recipe", recipe]);
        let (report, what) = (stdout(&out), format!("{}: {}", file.display(), stderr(&out)));
        assert!(report.contains(expected), "{what}{report}");
        let not_looked_for = report.contains("not looked for: undefined behaviour of other kinds");
        assert_eq!(not_looked_for, report.contains("so LLVM is wrong"), "{what}{report}");
        let others = verdicts.iter().filter(|verdict| report.contains(*verdict)).count();
        assert!(others <= 1, "{what}{report}");
    }
}

/// If the tags cannot be checked, the report says so, and calls neither LLVM nor the program wrong.
#[test]
fn without_checks_nobody_is_convicted() {
    let Some(()) = llvm() else { return };
    let file = tools::path("tests/verdict/phi.ll");
    let file = file.to_str().unwrap();
    let command = "opt-22 -O2 {} | lli-22; test $? = 74";
    for (args, why) in [
        (&["--recipe", "native", "--opt", "-O2 -fsanitize=address"][..], "with -fsanitize=address"),
        (&["--", "sh", "-c", command], "search with --recipe or --recorded"),
    ] {
        let report = stdout(&bisect(file, args));
        let verdict = report.lines().find(|line| line.starts_with("not checked: the tags"));
        assert!(verdict.is_some_and(|verdict| verdict.contains(why)), "{report}");
        assert!(!report.contains("wrong:") && !report.contains("so "), "{report}");
    }
}

/// Returns the module `planted` with copies of its function `@other`: at most 2000 accesses in all.
fn with_2000_accesses(planted: &str) -> String {
    let (before, rest) = planted.split_once("\n; Accesses that have nothing").unwrap();
    let (other, after) = rest.split_once("\n@format").unwrap();
    let (_, other) = other.split_once('\n').unwrap();
    let copies = |range: std::ops::Range<usize>| -> String {
        range.map(|n| other.replace("@other", &format!("@other.{n}"))).collect()
    };
    let count = (2000 - tbaa_ir::read(planted.as_bytes()).unwrap().instructions().len()) / 7;
    format!("{before}\n{}\n{other}{}@format{after}", copies(0..count / 3), copies(count / 3..count))
}

#[test]
fn a_fault_among_2000_accesses_takes_40_runs_at_most() {
    let Some(()) = llvm() else { return };
    // The file `hoisted` marks two accesses as guilty, `constant` one.
    for name in ["hoisted", "constant"] {
        let file = planted().into_iter().find(|file| file.file_stem().unwrap() == name).unwrap();
        let text = fs::read_to_string(file).unwrap();
        let large = with_2000_accesses(&text);
        let count = tbaa_ir::read(large.as_bytes()).unwrap().instructions().len();
        assert!((1990..=2000).contains(&count), "{count}");
        let file = scratch("bisect", &format!("{name}-2000.ll"), &large);
        let out = tbaa(&["bisect", &file, "--recipe", "run"]).output().unwrap();
        let report = stdout(&out);
        let found: Vec<&str> =
            found_lines(&report).iter().map(|line| large.lines().nth(line - 1).unwrap()).collect();
        let guilty = if name == "constant" { 1 } else { 2 };
        assert_eq!(found.len(), guilty, "{report}{}", stderr(&out));
        assert!(found.iter().all(|line| line.ends_with("; guilty")), "{report}");
        println!("{name} among {count} accesses: {} runs", runs(&report));
        assert!(runs(&report) <= 40, "{report}");
    }
}

const ONE_STORE: &str = "define void @f(ptr %p) {\n  store i32 0, ptr %p, !tbaa !0\n  ret void\n}\n\
    !0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !{!\"root\"}}\n";

#[cfg(target_os = "linux")]
#[test]
fn a_run_over_the_time_limit_shows_the_fault_and_ends() {
    let file = scratch("bisect", "slow.ll", ONE_STORE);
    let pid = scratch("bisect", "pid", "");
    let command =
        format!("grep -q tbaa {{}} || exit 0; sh -c 'echo $$ > {pid}; exec sleep 600'; true");
    let mut search = tbaa(&["bisect", &file, "--timeout", "1", "--", "sh", "-c", &command]);
    let out = search.output().unwrap();
    assert_eq!(found_lines(&stdout(&out)), [2], "{}", stderr(&out));
    let pid = fs::read_to_string(pid).unwrap();
    // The process may take a moment to die, and remains a zombie if nobody waits for it.
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    let is_dead = || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    assert!(within_5_seconds(is_dead), "process {pid} was left");
}

#[cfg(target_os = "linux")]
fn within_5_seconds(done: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        done()
    })
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let file = scratch("bisect", "interrupted.ll", ONE_STORE);
    let folder = tools::emptied("bisect/temporary");
    let mut search = tbaa(&["bisect", &file, "--", "sleep", "600"]);
    let mut child = search.env("TMPDIR", &folder).spawn().unwrap();
    let is_there = || fs::read_dir(&folder).unwrap().count() > 0;
    assert!(within_5_seconds(is_there));
    let kill = format!("kill -s INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status}");
    assert!(!is_there());
}
