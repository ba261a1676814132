//! The command, run as its users run it.
//!
//! Each file under `tests/cases` is a test: arguments, standard input, and the
//! expected output and exit status; it runs in `tests/inputs`. With
//! `TRYCMD=overwrite` the files are rewritten with what the command prints now:
//! look at the difference before it is committed.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tbaa(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs"));
    command
}

fn output(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = tbaa(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Sees to it that LLVM accepts a text, where LLVM is there to be asked.
fn assemble(text: &[u8]) {
    let mut command = Command::new("llvm-as-22");
    command.args(["-o", "/dev/null"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        let required = std::env::var("TBAA_LLVM").is_ok_and(|value| value == "require");
        assert!(!required, "llvm-as-22 is required and cannot be run");
        eprintln!("llvm-as-22 is not there; what dump prints is not shown to it");
        return;
    };
    child.stdin.take().unwrap().write_all(text).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// A list of scalar tags; every tag NoAlias with every other.
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
        let expected: String = (0..count)
            .flat_map(|row| {
                let letter = move |column| if row == column { 'M' } else { 'N' };
                (0..count).map(letter).chain(['\n'])
            })
            .collect();
        assert_eq!(text(&out.stdout), expected);
    }
}

#[test]
fn the_locale_changes_nothing() {
    for args in [
        &["matrix", "shapes.ll"][..],
        &["alias", "shapes.ll", "!2", "!99"],
        &["dump", "missing.ll"],
        &["dump", "."],
    ] {
        let run = |locale| tbaa(args).env("LC_ALL", locale).output().unwrap();
        let posix = run("C");
        for locale in ["", "de_DE.UTF-8", "tr_TR.UTF-8", "nonsense"] {
            assert_eq!(run(locale), posix, "{args:?} in {locale:?}");
        }
    }
}

#[test]
fn what_dump_prints_reads_back() {
    let inputs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    for name in ["shapes", "sized", "inline", "llvm3", "crlf", "named", "cycle", "classes"] {
        let file = format!("{name}.ll");
        let graph = |bytes: &[u8]| tbaa_ir::read(bytes).unwrap().into_graph();
        let original = std::fs::read(inputs.join(&file)).unwrap();
        let llvm = output(&["dump", &file], b"").stdout;
        assert_eq!(graph(&llvm), graph(&original), "{file}");
        assemble(&llvm);
        let json = output(&["dump", &file, "--format", "json"], b"").stdout;
        let from_json: tbaa::Graph = serde_json::from_slice(&json).unwrap();
        assert_eq!(from_json, graph(&original), "{file}");
        let ron = output(&["dump", &file, "--format", "ron"], b"").stdout;
        assert!(tbaa::spec::Spec::load(text(&ron)).is_ok(), "{file}");
    }
    let spec = tbaa::spec::Spec::load(&std::fs::read_to_string(inputs.join("pair.ron")).unwrap());
    let named = output(&["dump", "pair.ron"], b"").stdout;
    assert_eq!(tbaa_ir::read(&named).unwrap().graph(), spec.unwrap().graph());
    assemble(&named);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = tbaa(&["matrix", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(scalars(600).as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let out = tbaa(&["matrix", "shapes.ll"]).stdout(full).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).starts_with("error: cannot write to standard output: "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_end_is_refused_at_once() {
    for args in [&["dump", "/dev/zero"][..], &["check", "/dev/zero"]] {
        let out = output(args, b"");
        assert_eq!(out.status.code(), Some(2));
        let expected = "error: cannot read /dev/zero: byte 0 is 0: this is not a text file\n";
        assert_eq!(text(&out.stderr), expected);
    }
    // Text that is longer than the part that is looked at first.
    let long = format!("{}\n{}", "; comment\n".repeat(10_000), scalars(3));
    assert_eq!(output(&["matrix", "-"], long.as_bytes()).stdout, b"MNN\nNMN\nNNM\n");
}

#[test]
fn an_error_in_an_endless_line_is_short() {
    let line = format!("!0 = !{{{}!\"", "i64 0, ".repeat(400_000));
    let out = output(&["dump", "-"], line.as_bytes());
    assert_eq!(out.status.code(), Some(2));
    assert!(out.stderr.len() < 500, "{}", text(&out.stderr));
    let caret = text(&out.stderr).lines().last().unwrap();
    assert!(caret.ends_with('^'), "{caret}");
}

/// Two hundred thousand warnings: each at a place that takes a look at all the
/// text before it, if it were looked for.
#[test]
fn only_warnings_that_are_printed_cost_time() {
    const COUNT: usize = 200_000;
    let mut listing = String::from("!0 = !{!\"root\"}\n!1 = !{!\"int\", !0, i64 0}\n");
    for tag in 2..COUNT + 2 {
        listing += &format!("!{tag} = distinct !{{!1, !1, i64 1}}\n");
    }
    let out = output(&["stats", "-"], listing.as_bytes());
    assert!(text(&out.stdout).contains(&COUNT.to_string()));
    let errors = text(&out.stderr);
    assert_eq!(errors.matches("<stdin>:").count(), 10, "{errors}");
    assert!(errors.ends_with("and 199990 more warnings of this kind\n"), "{errors}");
}

#[test]
fn many_failures_are_placed_in_one_pass() {
    const TAGS: usize = 200;
    let mut spec = String::from("Spec(name: \"many\", types: [Root(name: \"root\"),\n");
    for tag in 0..TAGS {
        spec += &format!("Scalar(name: \"t{tag}\", parent: \"root\"),\n");
    }
    spec += "], tags: [\n";
    for tag in 0..TAGS {
        spec +=
            &format!("Tag(name: \"t{tag}\", base: \"t{tag}\", access: \"t{tag}\", offset: 0),\n");
    }
    spec += "], expect: [\n";
    for (a, b) in (0..TAGS).flat_map(|a| (0..a).map(move |b| (a, b))) {
        spec += &format!("(a: \"t{a}\", b: \"t{b}\", llvm: MayAlias, why: \"it is not\"),\n");
    }
    spec += "])\n";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many.ron");
    std::fs::write(&file, spec).unwrap();
    let out = output(&["check", file.to_str().unwrap()], b"");
    assert_eq!(out.status.code(), Some(1));
    let lines: Vec<&str> = text(&out.stdout).lines().collect();
    assert_eq!(lines.len(), TAGS * (TAGS - 1) / 2 + 1);
    for (index, line) in lines[..lines.len() - 1].iter().enumerate() {
        let place = format!("many.ron:{}:1: ", 2 * TAGS + 4 + index);
        assert!(line.contains(&place), "{line}: {place}");
    }
}

/// `script` gives a command a terminal of its own.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_shown_on_a_terminal_and_taken_away() {
    let run = |terminal: bool| {
        let line = format!("(sleep 1.5; cat shapes.ll) | {} stats -", env!("CARGO_BIN_EXE_tbaa"));
        let mut command = Command::new(if terminal { "script" } else { "sh" });
        match terminal {
            true => command.args(["-qec", &line, "/dev/null"]),
            false => command.args(["-c", &line]),
        };
        command.env("NO_COLOR", "1").current_dir(tbaa(&[]).get_current_dir().unwrap());
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
fn color_is_for_terminals_or_on_demand() {
    let run = |args: &[&str], no_color: bool| {
        let mut command = tbaa(args);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.output().unwrap().stderr.contains(&0x1b)
    };
    assert!(!run(&["dump", "missing.ll"], false));
    assert!(run(&["dump", "missing.ll", "--color", "always"], false));
    assert!(!run(&["dump", "missing.ll", "--color", "never"], true));
    assert!(!run(&["dump", "missing.ll"], true));
}

#[test]
fn json_reads_back_as_the_findings() {
    for (args, code) in [(["verify", "ill.ll"], "TBAA013"), (["lint", "suspicious.ll"], "TBAA110")]
    {
        let out = output(&[args[0], args[1], "--format", "json"], b"");
        let found: Vec<tbaa_check::Diagnostic> = serde_json::from_slice(&out.stdout).unwrap();
        let found = found.iter().find(|it| it.code.to_string() == code).unwrap();
        assert_eq!(found.level, tbaa_check::Level::Error);
        assert!(found.primary.is_some() && !found.secondary.is_empty() && found.help.is_some());
    }
}

/// The demands of SARIF 2.1.0 that its readers rely on.
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
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(args[1]);
        let text = std::fs::read(file).unwrap();
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
                    // What a spec describes has no place in a text.
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

/// Many pairs are announced on standard error, fewer are not.
#[test]
fn many_pairs_are_written_with_a_word() {
    let stores = "  store i32 1, ptr %p, !tbaa !0\n".repeat(1_500);
    let text = format!(
        "define void @f(ptr %p) {{\n{stores}  ret void\n}}\n\
         define void @g(ptr %p) {{\n{}  ret void\n}}\n\
         !0 = !{{!1, !1, i64 0}}\n!1 = !{{!\"int\", !{{!\"R\"}}}}\n",
        "  store i32 1, ptr %p, !tbaa !0\n".repeat(3)
    );
    let all = output(&["matrix", "-", "--format", "pairs"], text.as_bytes());
    let note = self::text(&all.stderr);
    assert!(note.contains("1124253 pairs") && note.contains("name a function"), "{note}");
    let one = output(&["matrix", "-", "@g", "--format", "pairs"], text.as_bytes());
    assert_eq!(self::text(&one.stdout).lines().count(), 3);
    assert_eq!(self::text(&one.stderr), "");
}

#[test]
fn completions_are_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let out = output(&["completions", shell], b"");
        assert_eq!(out.status.code(), Some(0));
        assert!(text(&out.stdout).contains("TBAA_COMPLETE"), "{shell}");
    }
    assert_eq!(output(&["completions", "csh"], b"").status.code(), Some(2));
}

/// What fish is offered for a command line: the values, without their help.
fn completed(line: &[&str]) -> Vec<String> {
    let out = tbaa(&[]).args(["--", "tbaa"]).args(line).env("TBAA_COMPLETE", "fish").output();
    let out = out.unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{line:?}: {}", text(&out.stderr));
    let value = |line: &str| line.split('\t').next().unwrap().to_owned();
    text(&out.stdout).lines().map(value).collect()
}

#[test]
fn what_fits_is_offered() {
    assert_eq!(completed(&["mat"]), ["matrix"]);
    assert_eq!(completed(&["alias", "fill.l"]), ["fill.ll"]);
    assert_eq!(completed(&["alias", "fill.ll", "vec."]), ["vec.len", "vec.data"]);
    assert_eq!(completed(&["alias", "fill.ll", "vec.len", "!4"]), ["!41", "!45"]);
    assert_eq!(completed(&["explain", "fill.ll", "@t"]), ["@twice:"]);
    let accesses: Vec<_> = (1..5).map(|n| format!("@fill:{n}")).collect();
    assert_eq!(completed(&["explain", "fill.ll", "@fill:"]), accesses);
    assert_eq!(
        completed(&["generic", "fill.ll", "fill.c:1"]),
        ["fill.c:14", "fill.c:15", "fill.c:16"]
    );
    assert_eq!(completed(&["alias", "union.ron", "q"]), ["q->u.i", "q->e[k]"]);
    assert_eq!(completed(&["strip", "fill.ll", "--drop", "long"]), ["long"]);
    assert_eq!(completed(&["graph", "fill.ll", "--tag", "vec.l"]), ["vec.len"]);
    assert_eq!(completed(&["graph", "fill.ll", "--pair", "!41", "vec.l"]), ["vec.len"]);
    // Two tags are at S+0: their numbers tell them apart.
    assert_eq!(completed(&["alias", "twins.ll", "S"]), [""; 0]);
    for broken in
        [&["alias", "garbage.ll", "!"][..], &["alias", "missing.ll", "!"], &["alias", "!"]]
    {
        assert_eq!(completed(broken), [""; 0]);
    }
}

/// The commands whose help has an exit status.
const COMMANDS: &str = "dump alias explain generic matrix check verify lint stats types link strip \
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

/// The `f.ll` of the examples in the help.
#[cfg(unix)]
const EXAMPLE: &str = include_str!("inputs/example.ll");

/// Writes a program that stands in for one of LLVM's.
#[cfg(unix)]
fn stand_in(file: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn every_example_in_the_help_runs() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    let _ = std::fs::remove_dir_all(&home);
    for dir in ["bin", "specs", ".local/share/bash-completion/completions", ".zfunc"] {
        std::fs::create_dir_all(home.join(dir)).unwrap();
    }
    std::fs::create_dir_all(home.join(".config/fish/completions")).unwrap();
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    for name in ["ravi.ron", "clang-c.ron"] {
        std::fs::copy(specs.join(name), home.join("specs").join(name)).unwrap();
    }
    std::fs::copy(specs.join("ravi.ron"), home.join("ravi.ron")).unwrap();
    std::fs::write(home.join("f.ll"), EXAMPLE).unwrap();
    std::fs::write(home.join("g.ll"), EXAMPLE).unwrap();
    std::fs::write(home.join("prog.c"), "").unwrap();
    std::fs::create_dir_all(home.join("build")).unwrap();
    let of_prog = format!(
        r#"[{{ "directory": "{}", "file": "prog.c", "command": "cc -c prog.c" }}]"#,
        home.display()
    );
    std::fs::write(home.join("build/compile_commands.json"), of_prog).unwrap();
    stand_in(&home.join("bin/llvm-as"), "cat > llvm-as.in");
    stand_in(&home.join("bin/clang"), "cat f.ll");
    for program in ["opt", "opt-22", "lli", "lli-22"] {
        stand_in(&home.join("bin").join(program), "true");
    }
    // What names values and optimises changes nothing.
    stand_in(&home.join("bin/opt-22"), "case \"$*\" in *instnamer*|*gvn*) cat ;; esac");
    // The program is its last argument.
    stand_in(
        &home.join("bin/clang-22"),
        "for out; do true; done; echo '#!/bin/sh' > \"$out\"; chmod +x \"$out\"",
    );
    std::fs::write(home.join("expected.txt"), "").unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tbaa"), home.join("bin/tbaa")).unwrap();
    let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());

    for command in COMMANDS.split_whitespace().chain(["completions", "man"]) {
        let help = output(&[command, "--help"], b"").stdout;
        let (_, examples) = text(&help).split_once("Examples:\n").unwrap();
        for line in examples.lines().take_while(|line| !line.is_empty()) {
            // Behind the example, and well away from it, stands what it is about.
            let (example, remark) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
            let mut shell = Command::new("sh");
            shell.args(["-c", example]).current_dir(&home).env("HOME", &home).env("PATH", &path);
            let out = shell.output().unwrap();
            // In a pipe the status is that of the last program.
            let errors = text(&out.stderr);
            assert!(out.status.success() && !errors.contains("error"), "{example}: {errors}");
            if command == "generic" {
                let shown = remark.trim().trim_end_matches("...)");
                assert!(text(&out.stdout).starts_with(shown), "{example}: {}", text(&out.stdout));
            }
        }
    }
}

/// The report has a picture of each struct that is accessed, and of no scalar.
#[test]
fn a_report_draws_what_is_around_structs() {
    let out = output(&["report", "fill.ll"], b"");
    let page = text(&out.stdout);
    assert_eq!(page.matches("\"picture\":\"\\u003csvg").count(), 2);
    assert!(page.contains("Types around vec") && page.contains("Types around cell"));
}
