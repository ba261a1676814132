//! Runs the command `tbaa` as its users do.
//!
//! Each file in `tests/cases` is a test: arguments, standard input, and the expected output and
//! exit status. It runs in `tests/inputs`. `TRYCMD=overwrite` rewrites the files with the command's
//! present output: look at the difference before you commit it.

mod tools;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tbaa(args: &[&str]) -> Command {
    let mut command = tools::tbaa(args);
    command.current_dir(tools::path("tests/inputs"));
    command
}

fn output(args: &[&str], stdin: &[u8]) -> Output {
    tools::fed(&mut tbaa(args), stdin)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Checks that LLVM accepts a text, if LLVM is installed.
fn assemble(text: &[u8]) {
    let Some(()) = tools::find(&["llvm-as-22"]) else { return };
    let out = tools::fed(Command::new("llvm-as-22").args(["-o", "/dev/null"]), text);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// Returns metadata that lists `count` scalar tags. Each is NoAlias with every other one.
fn scalars(count: usize) -> String {
    let tags: Vec<_> = (0..count).map(|tag| format!("!{tag}")).collect();
    let mut list = format!("!tbaa.tags = !{{{}}}\n", tags.join(", "));
    for tag in 0..count {
        let ty = count + tag;
        list += &format!("!{tag} = !{{!{ty}, !{ty}, i64 0}}\n");
        list += &format!("!{ty} = !{{!\"t{tag}\", !{}, i64 0}}\n", 2 * count);
    }
    list + &format!("!{} = !{{!\"root\"}}\n", 2 * count)
}

#[test]
fn cases() {
    trycmd::TestCases::new().case("tests/cases/*.toml");
}

#[test]
fn a_grid_is_a_line_a_tag_and_a_letter_a_tag() {
    for count in [0, 1, 3, 64, 65, 200] {
        let out = output(&["matrix", "-", "--format", "grid"], scalars(count).as_bytes());
        assert_eq!(out.status.code(), Some(0));
        let expected = (0..count).flat_map(|row| {
            let letter = move |column| if row == column { 'M' } else { 'N' };
            (0..count).map(letter).chain(['\n'])
        });
        assert_eq!(text(&out.stdout), expected.collect::<String>());
    }
}

#[test]
fn what_dump_prints_reads_back() {
    let inputs = tools::path("tests/inputs");
    for name in ["shapes", "sized", "inline", "llvm3", "crlf", "named", "cycle", "classes"] {
        let file = format!("{name}.ll");
        let graph = |bytes: &[u8]| tbaa_ir::read(bytes).unwrap().into_graph();
        let original = fs::read(inputs.join(&file)).unwrap();
        let llvm = output(&["dump", &file], b"").stdout;
        assert_eq!(graph(&llvm), graph(&original), "{file}");
        assemble(&llvm);
        let json = output(&["dump", &file, "--format", "json"], b"").stdout;
        let from_json: tbaa::Graph = serde_json::from_slice(&json).unwrap();
        assert_eq!(from_json, graph(&original), "{file}");
        let ron = output(&["dump", &file, "--format", "ron"], b"").stdout;
        assert!(tbaa::spec::Spec::load(text(&ron)).is_ok(), "{file}");
    }
    let spec = tbaa::spec::Spec::load(&fs::read_to_string(inputs.join("pair.ron")).unwrap());
    let named = output(&["dump", "pair.ron"], b"").stdout;
    assert_eq!(tbaa_ir::read(&named).unwrap().graph(), spec.unwrap().graph());
    assemble(&named);
}

/// Returns the numbers of the tags that a dump lists, each with the comment after its definition.
fn listed(dump: &str) -> Vec<(&str, &str)> {
    let list = dump.lines().find_map(|line| line.strip_prefix("!tbaa.tags = !{"));
    let numbers = list.unwrap_or("}").trim_end_matches('}').split(", ");
    let line = |number| {
        let mut lines = dump.lines().filter_map(|line| line.split_once(" = "));
        let line = lines.find(|(defined, _)| *defined == number).unwrap().1;
        (number, line.split_once(" ; ").unwrap().1)
    };
    numbers.filter(|number| !number.is_empty()).map(line).collect()
}

/// A number copied from a dump means the same tag in the input and in the dump itself.
#[test]
fn a_number_that_dump_prints_can_be_given_back() {
    let mut tags = 0;
    for file in tools::files("tests/inputs", &["ll", "ron"]) {
        let file = file.file_name().unwrap().to_str().unwrap();
        let dump = output(&["dump", file], b"").stdout;
        let grid = output(&["matrix", "-", "--rules", "union", "--format", "grid"], &dump).stdout;
        let listed = listed(text(&dump));
        for (at, (number, remark)) in listed.iter().enumerate().take(6) {
            let out = output(&["explain", file, number, number], b"");
            let said = text(&out.stdout);
            let line = said.lines().find_map(|line| line.strip_prefix("  a: "));
            let line = line.unwrap_or_else(|| panic!("{file} {number}: {}", text(&out.stderr)));
            let meaning = remark.split(": ").next().unwrap();
            assert!(file.ends_with(".ron") || line.contains(meaning), "{file} {number}: {line}");
            // The dump and the input also give the same answers.
            let (first, _) = listed[0];
            let out = output(&["alias", file, first, number, "--rules", "union"], b"");
            let letter = text(&grid).lines().next().unwrap().as_bytes()[at];
            let answer = if letter == b'M' { "MayAlias\n" } else { "NoAlias\n" };
            assert_eq!(text(&out.stdout), answer, "{file} {first} {number}");
            tags += 1;
        }
    }
    assert!(tags > 100, "{tags}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let out = tbaa(&["matrix", "shapes.ll"]).stdout(full).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).starts_with("error: cannot write to standard output: "));
}

#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_on_a_terminal_and_taken_away() {
    let run = |terminal: bool| {
        let line = format!("(sleep 1.5; cat shapes.ll) | {} stats -", env!("CARGO_BIN_EXE_tbaa"));
        let mut command = Command::new(if terminal { "script" } else { "sh" });
        command.args([if terminal { "-qec" } else { "-c" }, &line]);
        command.args(terminal.then_some("/dev/null"));
        command.env("NO_COLOR", "1").current_dir(tools::path("tests/inputs"));
        let out = command.stdin(Stdio::null()).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        (text(&out.stdout).replace("\r\n", "\n"), text(&out.stderr).to_owned())
    };
    let (answer, nothing) = run(false);
    assert_eq!(nothing, "");
    let (shown, _) = run(true);
    assert!(shown.contains("\r\x1b[Kreading standard input, "), "{shown:?}");
    assert_eq!(shown.rsplit("\x1b[K").next(), Some(&*answer));
}

#[test]
fn json_reads_back_as_the_findings() {
    for (args, code) in [(["verify", "ill.ll"], "TBAA013"), (["lint", "suspicious.ll"], "TBAA110")]
    {
        let out = output(&[args[0], args[1], "--format", "json"], b"");
        let found: Vec<tbaa_check::Diagnostic> = serde_json::from_slice(&out.stdout).unwrap();
        let found = found.iter().find(|found| found.code.to_string() == code).unwrap();
        assert_eq!(found.level, tbaa_check::Level::Error);
        assert!(found.primary.is_some() && !found.secondary.is_empty() && found.help.is_some());
    }
}

#[test]
fn sarif_is_what_its_schema_wants() {
    for (args, least) in [
        (&["verify", "ill.ll", "--format", "sarif"][..], 5),
        (&["lint", "suspicious.ll", "--format", "sarif"], 4),
        (&["lint", "shapes.ll", "--format", "sarif"], 0),
        (&["verify", "union.ron", "--format", "sarif"], 1),
    ] {
        let out = output(args, b"");
        let log: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(log["version"], "2.1.0");
        assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
        let [run] = &log["runs"].as_array().unwrap()[..] else { panic!("one run") };
        let driver = &run["tool"]["driver"];
        assert_eq!(driver["name"], "tbaa");
        let rules = driver["rules"].as_array().unwrap();
        assert_eq!(rules.len(), tbaa_check::Code::all().count());
        for rule in rules {
            assert!(rule["id"].as_str().unwrap().starts_with("TBAA"));
            assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
            assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("## "));
        }
        let results = run["results"].as_array().unwrap();
        assert!(results.len() >= least, "{args:?}: {}", results.len());
        assert_eq!(out.status.code(), Some(i32::from(!results.is_empty())));
        let text = fs::read(tools::path("tests/inputs").join(args[1])).unwrap();
        for result in results {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let related = result["relatedLocations"].as_array().into_iter().flatten();
            for location in result["locations"].as_array().unwrap().iter().chain(related) {
                let physical = &location["physicalLocation"];
                let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                let Some(region) = physical.get("region") else {
                    // A finding in a spec has no position in the file.
                    assert!(uri.ends_with(".ron"));
                    continue;
                };
                let number = |key: &str| region[key].as_u64().unwrap() as usize;
                let start = number("byteOffset");
                assert!(number("byteLength") > 0 && start + number("byteLength") <= text.len());
                let place = (number("startLine"), number("startColumn"));
                assert_eq!(place, tbaa_ir::position(&text, start));
                assert!((number("endLine"), number("endColumn")) > place);
            }
        }
    }
}

/// Commands whose help states the exit status.
const COMMANDS: &str = "dump explain matrix masks check stats types link strip \
                        bisect graph diff report blocks";

#[test]
fn every_command_has_help_with_its_exit_status() {
    for command in COMMANDS.split_whitespace() {
        let help = output(&[command, "--help"], b"");
        assert_eq!(help.status.code(), Some(0));
        for part in ["Examples:", "Exit status:", "  2  "] {
            assert!(text(&help.stdout).contains(part), "{command}: {part}");
        }
    }
}

/// The module that the examples in the help call `f.ll`.
#[cfg(unix)]
const EXAMPLE: &str = include_str!("inputs/example.ll");

/// Writes a shell script that replaces one of LLVM's programs.
#[cfg(unix)]
fn stand_in(file: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn every_example_in_the_help_runs() {
    let home = tools::emptied("examples");
    let completions =
        [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"];
    for folder in ["bin", "specs", "build"].into_iter().chain(completions) {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    for (name, to) in [
        ("ravi.ron", "specs/ravi.ron"),
        ("clang-c.ron", "specs/clang-c.ron"),
        ("ravi.ron", "ravi.ron"),
    ] {
        fs::copy(tools::path("../../specs").join(name), home.join(to)).unwrap();
    }
    let of_prog = format!(
        r#"[{{ "directory": "{}", "file": "prog.c", "command": "cc -c prog.c" }}]"#,
        home.display()
    );
    for (name, text) in [
        ("f.ll", EXAMPLE),
        ("g.ll", EXAMPLE),
        ("prog.c", ""),
        ("f.perf", " 1 f\n  f.c:1\n"),
        ("build/compile_commands.json", &of_prog),
        ("expected.txt", ""),
    ] {
        fs::write(home.join(name), text).unwrap();
    }
    stand_in(&home.join("bin/llvm-as"), "cat > llvm-as.in");
    for program in ["opt", "opt-22", "lli", "lli-22"] {
        stand_in(&home.join("bin").join(program), "true");
    }
    // This script copies its input if the arguments name the pass `instnamer` or `gvn`.
    stand_in(&home.join("bin/opt-22"), "case \"$*\" in *instnamer*|*gvn*) cat ;; esac");
    // With `-emit-llvm`, print a module. Otherwise write a program to the last argument's path.
    stand_in(
        &home.join("bin/clang-22"),
        "for out; do [ \"$out\" != -emit-llvm ] || exec cat f.ll; done
         echo '#!/bin/sh' > \"$out\"; chmod +x \"$out\"",
    );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tbaa"), home.join("bin/tbaa")).unwrap();
    let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());

    for command in COMMANDS.split_whitespace().chain(["completions", "man"]) {
        let help = output(&[command, "--help"], b"").stdout;
        let (_, examples) = text(&help).split_once("Examples:\n").unwrap();
        for line in examples.lines().take_while(|line| !line.is_empty()) {
            // Two spaces separate an example from a remark behind it.
            let (example, remark) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
            let mut shell = Command::new("sh");
            shell.args(["-c", example]).current_dir(&home).env("HOME", &home).env("PATH", &path);
            let out = shell.output().unwrap();
            // A pipe has the exit status of its last program only.
            let errors = text(&out.stderr);
            assert!(out.status.success() && !errors.contains("error"), "{example}: {errors}");
            if example.ends_with("--generic") {
                let shown = text(&out.stdout);
                assert!(shown.starts_with(remark.trim()), "{example}: {shown}");
            }
        }
    }
}
