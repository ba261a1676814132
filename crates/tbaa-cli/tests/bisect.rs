//! `tbaa bisect` and `tbaa strip`: on programs that `opt -O2` makes go wrong
//! because of a planted tag, and on searches whose answer is known.

mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tools::{folder, scratch};

fn tbaa(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tbaa")).args(args).output().unwrap()
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bisect");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

/// The lines that a report names.
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
        // Without a target, only clang chooses one with vectors.
        let recipe = if file.ends_with("vectorized.ll") { "native" } else { "run" };
        let out = tbaa(&["bisect", file.to_str().unwrap(), "--recipe", recipe]);
        let report = stdout(&out);
        let what = format!("{}: {report}{}", file.display(), stderr(&out));
        assert_eq!(out.status.code(), Some(1), "{what}");
        assert_eq!(found_lines(&report), guilty, "{what}");
        assert!(runs(&report) <= 24, "{what}");
        let union =
            report.lines().find(|line| line.starts_with("  union")).map(|line| &line[9..12]);
        let expected = match file.file_stem().unwrap().to_str().unwrap() {
            "sized" => Some("May"),
            "constant" => None,
            _ => Some("NoA"),
        };
        assert_eq!(union, expected, "{what}");
    }
}

/// A module with a planted fault in its midst.
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
    // Two tags are guilty, or one; `planted_miscompiles_are_found` has more faults.
    for name in ["hoisted", "constant"] {
        let file = planted().into_iter().find(|file| file.file_stem().unwrap() == name).unwrap();
        let text = fs::read_to_string(file).unwrap();
        let large = with_2000_accesses(&text);
        let count = tbaa_ir::read(large.as_bytes()).unwrap().instructions().len();
        assert!((1990..=2000).contains(&count), "{count}");
        let file = scratch("bisect", &format!("{name}-2000.ll"), &large);
        let out = tbaa(&["bisect", &file, "--recipe", "run"]);
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

/// A function with `count` stores, each of its own number, of three types.
fn stores(count: usize) -> String {
    let mut text = String::from("define void @f(ptr %p) {\n");
    for n in 0..count {
        text += &format!("  store i32 {n}, ptr %p, !tbaa !{}\n", n % 3);
    }
    text += "  ret void\n}\n";
    for n in 0..3 {
        text += &format!("!{n} = !{{!{}, !{0}, i64 0}}\n!{} = !{{!\"t{n}\", !9}}\n", n + 3, n + 3);
    }
    text + "!9 = !{!\"root\"}\n"
}

/// A shell command that shows a fault where these stores have tags.
fn needs(stores: &[usize], file: &str) -> String {
    let tests: Vec<_> = stores.iter().map(|n| format!("/store i32 {n},.*tbaa/s++")).collect();
    let count = stores.len();
    format!("awk '{}; END {{ exit s == {count} }}' {file}", tests.join(";").replace("s++", "{s++}"))
}

#[cfg(unix)]
#[test]
fn the_search_is_the_same_by_file_and_by_standard_input() {
    let file = scratch("bisect", "5000.ll", &stores(5000));
    for (wanted, least, most) in
        [(&[17][..], 19, 26), (&[4000, 4999], 32, 40), (&[3, 4, 5], 44, 54)]
    {
        let mut first = None;
        for copy in ["{}", "-"] {
            let out = tbaa(&["bisect", &file, "--", "sh", "-c", &needs(wanted, copy)]);
            let report = stdout(&out);
            assert_eq!(out.status.code(), Some(1), "{report}{}", stderr(&out));
            let lines: Vec<_> = wanted.iter().map(|n| n + 2).collect();
            assert_eq!(found_lines(&report), lines, "{report}");
            assert!((least..=most).contains(&runs(&report)), "{wanted:?}: {report}");
            assert_eq!(stderr(&out).lines().count(), runs(&report));
            assert_eq!(*first.get_or_insert(report.clone()), report);
        }
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_goes_on() {
    let file = scratch("bisect", "resumed.ll", &stores(500));
    let state = scratch("bisect", "state", "");
    let count = scratch("bisect", "count", "");
    let limit = scratch("bisect", "limit", "10");
    fs::remove_file(&state).unwrap();
    let command = format!(
        "echo >> {count}; test $(wc -l < {count}) -le $(cat {limit}) || exit 125; {}",
        needs(&[100, 302], "{}")
    );
    let bisect =
        |file: &str| tbaa(&["bisect", file, "--state", &state, "--", "sh", "-c", &command]);
    let out = bisect(&file);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("error: the command ended with status 125"), "{}", stderr(&out));
    // Both ends were asked three times.
    assert_eq!(fs::read_to_string(&state).unwrap().lines().count(), 7);
    // A line that was not written to its end.
    let mut torn = fs::read_to_string(&state).unwrap();
    torn += "shows 0-4";
    fs::write(&state, torn).unwrap();
    fs::write(&limit, "1000").unwrap();
    let out = bisect(&file);
    let report = stdout(&out);
    assert_eq!(found_lines(&report), [102, 304], "{report}{}", stderr(&out));
    let rest = runs(&report);
    // All of it is known now.
    let again = stdout(&bisect(&file));
    assert_eq!(again, report.replace(&format!("{rest} runs"), "0 runs"));
    // And it is as many as in one go.
    let whole = stdout(&tbaa(&["bisect", &file, "--", "sh", "-c", &needs(&[100, 302], "{}")]));
    assert_eq!(runs(&whole), 10 + rest);

    let other = scratch("bisect", "other.ll", &stores(501));
    let out = bisect(&other);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("another module"), "{}", stderr(&out));
    fs::write(&state, "something else\n").unwrap();
    let out = bisect(&file);
    assert!(stderr(&out).contains("line 1 of"), "{}", stderr(&out));
    assert_eq!(fs::read_to_string(&state).unwrap(), "something else\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_over_the_time_limit_shows_the_fault_and_ends() {
    let file = scratch("bisect", "slow.ll", &stores(1));
    let pid = scratch("bisect", "pid", "");
    let command =
        format!("grep -q tbaa {{}} || exit 0; sh -c 'echo $$ > {pid}; exec sleep 600'; true");
    let out = tbaa(&["bisect", &file, "--timeout", "1", "--", "sh", "-c", &command]);
    assert_eq!(found_lines(&stdout(&out)), [2], "{}", stderr(&out));
    let pid = fs::read_to_string(pid).unwrap();
    // It may take a moment to die, and stays on as a zombie if nobody waits.
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    let is_dead = || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    let dies = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_dead()
    });
    assert!(dies, "process {pid} was left");
}

#[cfg(unix)]
#[test]
fn other_guilty_tags_are_said_or_found() {
    let file = scratch("bisect", "two.ll", &stores(300));
    // A fault by the first two types, and another by the third alone.
    let command =
        format!("if {}; then {}; else false; fi", needs(&[30, 31], "{}"), needs(&[32], "{}"));
    let run = |args: &[&str]| {
        let all = [&["bisect", &file][..], args, &["--", "sh", "-c", &command]].concat();
        stdout(&tbaa(&all))
    };
    let report = run(&[]);
    assert_eq!(found_lines(&report), [32, 33], "{report}");
    assert!(
        report.contains("\n  no   without any of these: other tags are guilty too"),
        "{report}"
    );
    assert_eq!(found_lines(&run(&["--sets", "2"])), [32, 33, 34]);
}

#[cfg(unix)]
#[test]
fn tags_that_are_not_to_blame_are_acquitted() {
    let file = scratch("bisect", "innocent.ll", &stores(20));
    let none = scratch("bisect", "none.ll", "define void @f() {\n  ret void\n}\n");
    for (file, command, why) in [
        (&file, "true", "the fault does not show with all of them"),
        (&file, "false", "the fault shows without any of them"),
        (&none, "false", "there are none"),
    ] {
        let out = tbaa(&["bisect", file, "--", command]);
        assert_eq!(out.status.code(), Some(0));
        assert_eq!(stdout(&out), format!("this module's tags are not to blame: {why}\n"));
    }
    let out = tbaa(&["bisect", &file, "--", "no-such-program"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).starts_with("error: cannot run no-such-program: "), "{}", stderr(&out));
    assert!(stdout(&out).is_empty());
    for args in [&["bisect", &file][..], &["bisect", &file, "--opt", "-O3", "--", "true"]] {
        assert_eq!(tbaa(args).status.code(), Some(2));
    }
}

#[test]
fn stripped_are_the_tags_asked_for() {
    let original = stores(64);
    let file = scratch("bisect", "strip.ll", &original);
    let kept = |args: &[&str]| -> Vec<usize> {
        let out = tbaa(&[&["strip", &file][..], args].concat());
        assert_eq!((out.status.code(), &*stderr(&out)), (Some(0), ""));
        let text = stdout(&out);
        let module = tbaa_ir::read(text.as_bytes()).unwrap();
        assert_eq!(module.instructions().len(), 64);
        let tagged = module.instructions().iter().enumerate().filter(|(_, i)| i.tag.is_some());
        let tagged: Vec<_> = tagged.map(|(n, _)| n).collect();
        // Every other byte stays.
        for (n, (line, before)) in text.lines().zip(original.lines()).enumerate() {
            let is_kept = n == 0 || n > 64 || tagged.contains(&(n - 1));
            let expected = if is_kept { before } else { before.split(", !tbaa").next().unwrap() };
            assert_eq!(line, expected);
        }
        tagged
    };
    assert_eq!(kept(&[]), []);
    assert_eq!(kept(&["--keep", "5"]), [0, 1, 2, 3, 4]);
    assert_eq!(kept(&["--keep", "500"]).len(), 64);
    assert_eq!(kept(&["--drop", "!1", "--drop", "2"]), (0..64).step_by(3).collect::<Vec<_>>());
    let halves = [kept(&["--hash", "0"]), kept(&["--hash", "1"])];
    assert!(halves.iter().all(|half| half.len() > 20), "{halves:?}");
    let mut all = halves.concat();
    all.sort_unstable();
    assert_eq!(all, (0..64).collect::<Vec<_>>());
    let quarter = kept(&["--hash", "01"]);
    assert!(quarter.len() > 8 && quarter.iter().all(|n| halves[1].contains(n)));
    assert_eq!(kept(&["--hash", "01", "--hash", "11"]), halves[1]);
    // Another function before it changes nothing.
    let moved =
        scratch("bisect", "moved.ll", &format!("define void @g() {{\n  ret void\n}}\n{original}"));
    let out = stdout(&tbaa(&["strip", &moved, "--hash", "01"]));
    let module = tbaa_ir::read(out.as_bytes()).unwrap();
    let tagged = module.instructions().iter().filter(|i| i.tag.is_some());
    assert!(tagged.map(|i| i.index as usize).eq(quarter));
    for bits in ["", "2", "+1", "000000000000000000000000000000000"] {
        assert_eq!(tbaa(&["strip", &file, "--hash", bits]).status.code(), Some(2), "{bits}");
    }
}

/// A fault that shows in some runs alone is not searched for without a word, and found with
/// enough runs.
#[cfg(unix)]
#[test]
fn a_program_that_does_not_answer_alike_is_told_of() {
    let file = scratch("bisect", "chance.ll", &stores(60));
    let count = scratch("bisect", "chance-count", "");
    // Every third run shows the fault.
    let command = format!(
        "echo >> {count}; test $(($(wc -l < {count}) % 3)) != 0 || {}",
        needs(&[7, 44], "{}")
    );
    let out = tbaa(&["bisect", &file, "--", "sh", "-c", &command]);
    assert_eq!((out.status.code(), &*stdout(&out)), (Some(2), ""));
    let said = stderr(&out);
    assert!(
        said.contains("does not answer alike: with all tags the fault shows in 1 of 3 runs"),
        "{said}"
    );
    assert!(said.contains("--repeat"), "{said}");
    let out = tbaa(&["bisect", &file, "--repeat", "3", "--", "sh", "-c", &command]);
    assert_eq!(found_lines(&stdout(&out)), [9, 46], "{}{}", stdout(&out), stderr(&out));
}

/// Output with a process's number in it.
#[test]
fn output_that_differs_in_each_run_is_told_of() {
    let Some(()) = llvm() else { return };
    let text = "declare i32 @getpid()\ndeclare i32 @printf(ptr, ...)\n\
        @f = constant [4 x i8] c\"%d\\0A\\00\"\n\
        define i32 @main() {\n  %m = alloca i32\n  store i32 0, ptr %m, !tbaa !0\n\
        %p = call i32 @getpid()\n  call i32 (ptr, ...) @printf(ptr @f, i32 %p)\n  ret i32 0\n}\n\
        !0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !2}\n!2 = !{!\"root\"}\n";
    let file = scratch("bisect", "pid.ll", text);
    let out = tbaa(&["bisect", &file, "--recipe", "native"]);
    let said = stderr(&out);
    assert_eq!(out.status.code(), Some(2), "{}{said}", stdout(&out));
    assert!(said.contains("without any tag the fault shows in"), "{said}");
    assert!(said.contains("a process number"), "{said}");
}

/// Two functions with a pair each, both of which the fault needs.
#[cfg(unix)]
#[test]
fn pairs_that_are_needed_together_are_grouped() {
    let mut text = String::new();
    for (function, first, second) in [("f", 0, 1), ("g", 2, 3)] {
        text += &format!(
            "define void @{function}(ptr %p) {{\n  store i32 {first}, ptr %p, !tbaa !{first}\n  \
             store i32 {second}, ptr %p, !tbaa !{second}\n  ret void\n}}\n"
        );
    }
    for n in 0..4 {
        text += &format!("!{n} = !{{!{}, !{0}, i64 0}}\n!{} = !{{!\"t{n}\", !9}}\n", n + 4, n + 4);
    }
    let file = scratch("bisect", "pairs.ll", &(text + "!9 = !{!\"root\"}\n"));
    let out = tbaa(&["bisect", &file, "--", "sh", "-c", &needs(&[0, 1, 2, 3], "{}")]);
    let report = stdout(&out);
    assert_eq!(found_lines(&report), [2, 3, 7, 8], "{report}{}", stderr(&out));
    assert_eq!(report.matches("never overlap").count(), 2, "{report}");
    assert!(report.contains("promise that 1 and 2 never overlap"), "{report}");
    assert!(report.contains("promise that 3 and 4 never overlap"), "{report}");
    assert!(report.contains("the fault needs all 2 pairs"), "{report}");
}

/// Ctrl-C leaves no folder behind.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let file = scratch("bisect", "interrupted.ll", &stores(3));
    let _ = fs::remove_dir_all(folder("bisect/temporary"));
    let folder = folder("bisect/temporary");
    let mut child = Command::new(env!("CARGO_BIN_EXE_tbaa"))
        .args(["bisect", &file, "--", "sleep", "600"])
        .env("TMPDIR", &folder)
        .spawn()
        .unwrap();
    let is_there = || fs::read_dir(&folder).unwrap().count() > 0;
    let wait = |done: &dyn Fn() -> bool| {
        (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            done()
        })
    };
    assert!(wait(&is_there));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status}");
    assert!(!is_there());
}
