//! Runs programs with a deliberate fault, for which exactly the two faulty accesses must be
//! reported, and programs without a fault, for which nothing must be reported.
//!
//! In the folders `faults`, `repeated` and `broken`, the lines of the accesses end in `// first`
//! and `// second`; in assembly, in `; first` and `; second`.

mod random;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa_instrument::{Form, SkipReason, instrument};
use tbaa_tests::files;
use tbaa_tests::llvm::Llvm;
use tbaa_tests::process::{run, text_of};

/// Instrumentation before optimisation, and after it: a name and clang's flags for each.
const WAYS: [(&str, &[&str]); 2] =
    [("before", &["-O1", "-Xclang", "-disable-llvm-passes"]), ("after", &["-O1", "-fno-inline"])];

/// Returns the arguments that link the library. Before the tests run, cargo builds the library into
/// the folder of the test executable.
fn library(is_static: bool) -> Vec<String> {
    let beside = |name| std::env::current_exe().unwrap().with_file_name(name).display().to_string();
    if is_static {
        return vec![beside("libtbaa_witness.a"), "-ldl".to_owned()];
    }
    vec![beside("libtbaa_witness.so"), format!("-Wl,-rpath,{}", beside(""))]
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn read_json(file: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

/// Instruments and compiles a program in the folder `tests`. Returns `None` without LLVM.
fn built(name: &str, way: &str) -> Option<PathBuf> {
    Llvm::get().map(|_| build(&program(name), way, WAYS[0].1))
}

/// Instruments and compiles a program, and returns the path of the executable.
fn build(source: &Path, way: &str, flags: &[&str]) -> PathBuf {
    build_with(source, way, flags, &[])
}

fn build_with(source: &Path, way: &str, flags: &[&str], objects: &[&str]) -> PathBuf {
    let name = source.file_name().unwrap().to_string_lossy().into_owned();
    let out = scratch(&format!("{name}-{way}"));
    let clang = if name.ends_with(".c") { "clang-22" } else { "clang++-22" };
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let text = if name.ends_with(".ll") {
        fs::read(source).unwrap()
    } else {
        let mut command = Command::new(clang);
        command.args(["-S", "-emit-llvm", "-g", "-w", "-o", "-"]).args(flags);
        if name.ends_with(".cpp") {
            command.arg("-std=c++20");
        }
        run(command.arg("-I").arg(include).arg(source)).unwrap()
    };
    let module = tbaa_ir::read(&text).unwrap();
    let form = if way == WAYS[1].0 { Form::Calls } else { Form::Assembly };
    let checked = instrument(&module, form).unwrap();
    // Some functions have an attribute that disables the instrumentation.
    let left = checked.skipped.iter().filter(|skipped| skipped.reason != SkipReason::Disabled);
    assert_eq!(left.count(), 0, "{name}: {:?}", checked.skipped);
    let file = out.with_extension(format!("{way}.ll"));
    fs::write(&file, &checked.text).unwrap();
    run(Command::new("opt-22").args(["-passes=verify", "-disable-output"]).arg(&file)).unwrap();
    let mut link = Command::new(clang);
    link.args(["-O1", "-w", "-rdynamic"]).arg(&file).args(objects);
    link.args(library(way == "static"));
    run(link.args(["-lm", "-pthread", "-o"]).arg(&out)).unwrap();
    out
}

/// The limit for `timeout` in seconds, so that a program that hangs fails its test.
const MOST_SECONDS: &str = "60";

/// The result of a program's run: its status, its standard error, and for each report the lines of
/// both accesses.
struct Ran {
    status: Option<i32>,
    text: String,
    found: Vec<(u32, u32)>,
}

fn reports(program: &Path, options: &str) -> Ran {
    let mut command = Command::new("timeout");
    // cargo sets this path to a folder that may contain an older library.
    command.env("TBAA_WITNESS", options).env_remove("LD_LIBRARY_PATH");
    let output = command.arg(MOST_SECONDS).arg(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut found = Vec::new();
    for report in text.split("tbaa-witness: contradiction ").skip(1) {
        let places =
            report.lines().filter(|line| line.starts_with("         ") && line.contains(" in "));
        let mut lines = places
            .map(|place| place.rsplit(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0));
        found.push((lines.next().unwrap(), lines.next().unwrap()));
    }
    Ran { status: output.status.code(), text, found }
}

/// Returns the path of the program that reproduces the first report, or why there is no program.
fn repro(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("  repro  "))
}

/// Returns the exit statuses of a program without optimisation and with it.
fn ends(program: &Path) -> [Option<i32>; 2] {
    ["-O0", "-O2"].map(|level| {
        let out = program.with_extension(level);
        run(Command::new("opt-22").arg(level).arg(program).arg("-o").arg(&out)).unwrap();
        Command::new("lli-22").arg(&out).status().unwrap().code()
    })
}

fn sources(folder: &str) -> Vec<PathBuf> {
    files(&format!("crates/tbaa-witness/tests/{folder}"), &[])
}

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn marked(source: &Path, mark: &str) -> u32 {
    let text = fs::read_to_string(source).unwrap();
    let line = text.lines().position(|line| line.ends_with(mark));
    line.unwrap_or_else(|| panic!("{} has no line {mark}", source.display())) as u32 + 1
}

#[test]
fn faults_are_reported_with_their_two_accesses() {
    let Some(_) = Llvm::get() else { return };
    // Optimisation before instrumentation would remove the redundant read in these programs.
    let repeated = [sources("repeated"), sources("broken")].concat();
    let repeated = repeated.into_iter().map(|repeated| (repeated, &WAYS[..1]));
    for (source, ways) in
        sources("faults").into_iter().map(|source| (source, &WAYS[..])).chain(repeated)
    {
        for (way, flags) in ways {
            let program = build(&source, way, flags);
            let marks = [(marked(&source, " first"), marked(&source, " second"))];
            let Ran { status, text, found } = reports(&program, "reuse=1");
            let expected = (Some(66), &marks[..]);
            assert_eq!((status, &found[..]), expected, "{} {way}: {text}", source.display());
            // A read and a later write are reported only with `reuse=1`.
            let reused = text.contains("1: a read, and a later write");
            let expected = if reused { (Some(0), &[][..]) } else { expected };
            let Ran { status, text, found } = reports(&program, "");
            assert_eq!((status, &found[..]), expected, "{} {way}: {text}", source.display());
        }
    }
}

/// The programs in `broken` end with status 0 if unoptimised, and with 1 after clang's `-O2`.
#[test]
fn clang_breaks_what_is_said_to_be_broken() {
    let Some(_) = Llvm::get() else { return };
    let out = scratch("broken");
    for source in sources("broken") {
        let ends = ["-O0", "-O2"].map(|level| {
            let mut command = Command::new("clang++-22");
            if source.extension().is_some_and(|extension| extension == "c") {
                command.args(["-x", "c"]);
            }
            command.args([level, "-w", "-pthread"]).arg(&source).arg("-o").arg(&out);
            run(&mut command).unwrap();
            Command::new(&out).status().unwrap().code()
        });
        assert_eq!(ends, [Some(0), Some(1)], "{}", source.display());
    }
}

#[test]
fn reports_reproduce_themselves() {
    let Some(_) = Llvm::get() else { return };
    let folder = scratch("repro");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let misread = program("misread.ll");
    for source in sources("faults").into_iter().chain([misread]) {
        // LLVM merges reads of constant memory even without optimisation.
        if source.file_name().unwrap().to_str().unwrap().starts_with("constant") {
            continue;
        }
        let program = build(&source, "repro", WAYS[0].1);
        let text = reports(&program, &format!("reuse=1:repro={}", folder.display())).text;
        let line = repro(&text);
        if source.ends_with("atomics.ll") {
            assert_eq!(line, Some("none: LLVM itself keeps the two in order"));
            continue;
        }
        let file = line.unwrap_or_else(|| panic!("{}: {text}", source.display()));
        assert_eq!(ends(Path::new(file)), [Some(0), Some(1)], "{} {file}", source.display());
    }
}

/// A report quotes each access, and says what LLVM may do with this kind of access.
#[test]
fn volatile_and_atomic_accesses() {
    let Some(_) = Llvm::get() else { return };
    let source = fs::read_to_string(program("faults/atomics.ll")).unwrap();
    let folder = scratch("written");
    fs::create_dir_all(&folder).unwrap();
    let goes_first = "LLVM may let the read go first";
    let nothing = "nothing comes of these two as long as";
    for (write, read, consequence) in [
        ("store X", "load X", goes_first),
        ("store volatile X", "load X", goes_first),
        ("store X", "load volatile X", "may let the write wait for the volatile read"),
        ("store volatile X", "load volatile X", nothing),
        ("store atomic X unordered", "load atomic X unordered", goes_first),
        ("store atomic volatile X unordered", "load X", goes_first),
        ("store atomic X release", "load X", nothing),
        ("store X", "load atomic volatile X acquire", nothing),
    ] {
        let [first, second] = [write, read].map(|access| {
            let (word, end) = access.split_once(" X").unwrap();
            let [ty, value] = if word.starts_with("store") { ["i32", " 3"] } else { ["float", ""] };
            let text = format!("{word} {ty}{value}, ptr %array{end}, align 4");
            (text, format!("{word} {ty}, ptr %array{end} in main"))
        });
        let lines = source.lines().map(|line| match line {
            _ if line.contains("atomicrmw") => format!("  {}, !tbaa !10, !dbg !96", first.0),
            _ if line.contains("load atomic") => {
                format!("  %read = {}, !tbaa !11, !dbg !97", second.0)
            }
            _ => line.to_owned(),
        });
        let file = folder.join(format!("{}-{}.ll", write, read).replace(' ', "_"));
        fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let program = build(&file, "written", WAYS[0].1);
        let Ran { text, found, .. } = reports(&program, &format!("repro={}", folder.display()));
        assert_eq!(found.len(), 1, "{text}");
        for part in [&first.1, &second.1, consequence] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let repro = repro(&text).unwrap();
        if consequence == goes_first {
            let program = fs::read_to_string(repro).unwrap();
            let words = write.split_once(" X").unwrap().0;
            assert!(program.contains(&format!("{words} i32 -1")), "{program}");
            assert_eq!(ends(Path::new(repro)), [Some(0), Some(1)], "{write}, {read}");
        } else {
            assert_eq!(repro, "none: LLVM itself keeps the two in order");
        }
    }
}

#[test]
fn programs_without_a_fault_are_silent() {
    let Some(_) = Llvm::get() else { return };
    for source in sources("silent") {
        for (way, flags) in WAYS {
            let program = build(&source, way, flags);
            for options in ["", "reuse=1"] {
                let Ran { status, text, .. } = reports(&program, options);
                let ended = (status, &text[..]);
                assert_eq!(ended, (Some(0), ""), "{} {way} {options}", source.display());
            }
        }
    }
}

/// C allows these programs, but clang breaks them. The warning does not change the exit status.
#[test]
fn memory_that_changes_its_type_in_one_function_is_warned_of() {
    let Some(_) = Llvm::get() else { return };
    for source in sources("warned") {
        let program = build(&source, "warned", WAYS[0].1);
        let Ran { status, text, found } = reports(&program, "");
        let mark = |mark: &str| format!(":{}:", marked(&source, mark));
        let warning = text.split("tbaa-witness: warning ").nth(1).unwrap_or_default();
        let places: Vec<_> = warning.lines().filter(|line| line.contains(" in ")).collect();
        let is =
            |at: usize, of: &str| places.get(at).is_some_and(|place| place.contains(&mark(of)));
        let says =
            text.contains("; warnings do not change the exit status. Not checked are such writes");
        let parts = [is(1, " first"), is(2, " second"), says];
        let ended = (status, found.len(), parts);
        assert_eq!(ended, (Some(0), 0, [true; 3]), "{}: {text}", source.display());
    }
}

#[test]
fn options_change_what_is_reported() {
    let Some(program) = built("faults/scalars.c", "static") else { return };
    let count = |options: &str| {
        let ran = reports(&program, options);
        (ran.status, ran.found.len())
    };
    assert_eq!(count("exitcode=0"), (Some(0), 1));
    assert_eq!(count("exitcode=256"), (Some(66), 1));
    assert_eq!(count("exitcode=3:halt=1"), (Some(3), 1));
    assert_eq!(count("rules=union-strict"), (Some(66), 1));
    // The two reports: a write over an earlier write, and a read of what the later write wrote.
    assert_eq!(count("report_stores=1"), (Some(66), 2));
    let list = scratch("suppressions");
    for (lines, counted) in
        [("# a comment\nfun:as_fl*t\n", (Some(0), 0)), ("src:*other.c\n", (Some(66), 1))]
    {
        fs::write(&list, lines).unwrap();
        assert_eq!(count(&format!("suppressions={}", list.display())), counted);
    }
    let ran = reports(&program, &format!("log_path={}", scratch("log").display()));
    assert_eq!((ran.status, ran.text.as_str()), (Some(66), ""));
    // One read contradicts two writes. With `halt=1` the program ends after the first report.
    let both = scratch("both.c");
    let text = "struct { int a; float b; } s; long *volatile p = (long *)&s; int main(void) { s.a = s.b = 1; return *p; }";
    fs::write(&both, text).unwrap();
    let program = build(&both, "static", WAYS[0].1);
    assert_eq!(reports(&program, "").found.len(), 2);
    let Ran { text: said, found, .. } = reports(&program, "halt=1");
    assert_eq!((found.len(), said.contains(" in all")), (1, false), "{said}");
    assert!(reports(&program, "colour=1").text.contains("TBAA_WITNESS has \"colour=1\""));
}

#[test]
fn rules_differ_where_llvm_misreads_a_tag() {
    // The program writes a whole struct member and then reads a part of it.
    let Some(program) = built("misread.ll", "rules") else { return };
    let Ran { text, found, .. } = reports(&program, "rules=llvm");
    assert_eq!(found.len(), 1, "{text}");
    assert!(text.contains("rules  NoAlias by llvm\n"), "{text}");
    assert_eq!(reports(&program, "rules=union").found, []);
    assert_eq!(reports(&program, "rules=union-strict").found, []);
}

#[test]
fn rules_differ_where_only_the_types_keep_accesses_apart() {
    let Some(program) = built("beside.ll", "beside") else { return };
    assert_eq!(reports(&program, "rules=llvm").found, []);
    let folder = scratch("none");
    for rule in ["union", "union-strict"] {
        let Ran { text, found, .. } =
            reports(&program, &format!("rules={rule}:repro={}", folder.display()));
        assert_eq!((found.len(), folder.exists()), (1, false), "{text}");
        for part in [
            "rules  NoAlias by union, union-strict\n",
            "so     a compiler by such a rule may let the read go first",
            "repro  none: LLVM itself keeps the two apart\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn a_report_says_what_and_whose_and_why() {
    let Some(program) = built("faults/scalars.c", "text") else { return };
    let text = reports(&program, "").text;
    let parts = [
        "contradiction 1: a write, and a later read of what it wrote\n",
        "  write  4 bytes as \"int\"\n",
        "  read   4 bytes as \"float\"\n",
        " of a block of 24 bytes, allocated by main (",
        "  rules  NoAlias by llvm, union, union-strict\n",
        "  reason NoAlias\n",
        "LLVM may let the read go first",
        "  stack  as_float (",
        "\ntbaa-witness: 1 contradiction in all, of 1 kind\n",
    ];
    for part in parts {
        assert!(text.contains(part), "no {part:?}: {text}");
    }
}

#[test]
fn reports_of_a_kind_are_counted_and_the_best_pair_is_shown() {
    let Some(program) = built("kinds.c", "kinds") else { return };
    let Ran { text, found, .. } = reports(&program, "");
    assert_eq!(found.len(), 2, "{text}");
    let best = marked(&self::program("kinds.c"), "// best");
    for part in [
        // The reported size is the one that was requested. Static functions have line numbers.
        "f: at 8 of a block of 64 bytes, allocated by main (",
        "  stack  read_double (",
        "kinds.c:10:",
        "\n         main (",
        ": at 4096 of a mapping of 8192 bytes\n",
        "tbaa-witness: 4 contradictions in all, of 2 kinds; only the first of each kind was printed (all=1 prints all)\ntbaa-witness: the kinds, beginning with those that LLVM can exploit",
        "\ntbaa-witness: contradiction 2: ",
        "\n in one function\n      3  write 8 bytes as \"long\", in near_by",
    ] {
        assert!(text.contains(part), "no {part:?}: {text}");
    }
    let line = text.lines().find(|line| line.starts_with("      3  write")).unwrap();
    assert!(line.ends_with(&format!("kinds.c:{best}:10")), "{line}");
    let Ran { text, found, .. } = reports(&program, "all=1");
    assert_eq!(found.len(), 4, "{text}");
}

#[test]
fn bytes_of_a_report_are_those_that_both_touch() {
    let Some(program) = built("kinds.c", "bytes") else { return };
    let text = reports(&program, "").text;
    let number = |text: &str| u64::from_str_radix(&text[2..], 16).ok();
    let length = |line: &str| {
        let (range, _) = line.strip_prefix("  bytes  ")?.split_once(": ")?;
        let (first, last) = range.split_once(" to ")?;
        Some(number(last)? - number(first)? + 1)
    };
    assert_eq!(text.lines().filter_map(length).collect::<Vec<_>>(), [8, 4], "{text}");
}

#[test]
fn what_there_was_is_written_as_json_and_as_sarif() {
    let Some(program) = built("kinds.c", "files") else { return };
    let (json, sarif) = (scratch("kinds.json"), scratch("kinds.sarif"));
    let options = format!("json={}:sarif={}", json.display(), sarif.display());
    let text = reports(&program, &options).text;
    let (json, sarif) = (read_json(&json), read_json(&sarif));
    assert_eq!(json["contradictions"], 4);
    // Each kind of contradiction is one pair of tags. Pairs that may alias are counted too.
    assert!(json["pairs_compared"].as_u64().unwrap() >= 2, "{json:#}");
    let kind = &json["kinds"][0];
    assert_eq!((&kind["pairs"], &kind["first"]["does"]), (&3.into(), &"write".into()), "{json:#}");
    assert_eq!(
        (&kind["second"]["function"], &kind["second"]["bytes"]),
        (&"near_by".into(), &8.into())
    );
    assert_eq!(kind["stack"][0]["function"], "read_double");
    let calls = json["unknown_calls"].as_array().unwrap();
    assert!(calls.iter().all(|call| call["times"].as_u64().unwrap() > 0), "{json:#}");
    assert_eq!(
        text.contains("not known; the memory that they can reach"),
        !calls.is_empty(),
        "{text}"
    );
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!((&sarif["version"], results.len()), (&"2.1.0".into(), 2));
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("tests/kinds.c"));
    assert_eq!(place["region"]["startLine"], marked(&self::program("kinds.c"), "// best"));
}

/// The list has each function's name and the number of bytes whose records were cleared.
#[test]
fn calls_that_were_not_understood_are_listed() {
    let Some(_) = Llvm::get() else { return };
    let (checked, plain) = (program("checked.c"), program("plain.c"));
    let object = scratch("plain.o");
    let mut clang = Command::new("clang-22");
    run(clang.args(["-c", "-O1"]).arg(&plain).arg("-o").arg(&object)).unwrap();
    let object = object.display().to_string();
    let program = build_with(&checked, "calls", WAYS[0].1, &[&object]);
    assert_eq!(reports(&program, "").text, "");
    let text = reports(&program, "calls=1").text;
    assert!(text.ends_with("was forgotten\n  2 times, 48 bytes: plain\n"), "{text}");
    let harmless = scratch("harmless");
    fs::write(&harmless, "# not true\npl*n\n").unwrap();
    let Ran { text, found, .. } = reports(&program, &format!("harmless={}", harmless.display()));
    assert_eq!(found.len(), 1, "{text}");
    // Bytes whose records were cleared are not compared.
    let compared = |options: &str| {
        let file = scratch("compared.json");
        reports(&program, &format!("json={}{options}", file.display()));
        read_json(&file)["pairs_compared"].as_u64().unwrap()
    };
    let (less, more) = (compared(""), compared(&format!(":harmless={}", harmless.display())));
    assert!(less < more, "{less} {more}");
}

/// The report notes that C allows an access of character type, although clang's tag does not.
#[test]
fn a_member_of_character_type_is_told_of() {
    let Some(program) = built("character.c", "character") else { return };
    let Ran { text, found, .. } = reports(&program, "");
    assert_eq!(found.len(), 1, "{text}");
    assert!(text.contains("  note   C lets an access of character type"), "{text}");
}

#[test]
fn many_reports_are_cheap() {
    let Some(_) = Llvm::get() else { return };
    let source = scratch("many.c");
    let mut text = String::from("#include <stdlib.h>\n");
    for n in 0..60 {
        let _ = writeln!(text, "static void w{n}(int *p) {{ *p = {n}; }}");
        let _ = writeln!(text, "static float r{n}(float *p) {{ return *p; }}");
    }
    let names = |letter: &str| (0..60).map(|n| format!("{letter}{n},")).collect::<String>();
    let _ = write!(
        text,
        "static void (*volatile w[])(int *) = {{{}}};\n\
         static float (*volatile r[])(float *) = {{{}}};\n\
         int main(void) {{ float s = 0; int *p = malloc(4);\n\
         for (int i = 0; i < 60; i++) for (int j = 0; j < 60; j++) w[i](p), s += r[j]((float *)p);\n\
         return s > 1e9f; }}\n",
        names("w"),
        names("r")
    );
    fs::write(&source, text).unwrap();
    let program = build(&source, "many", WAYS[0].1);
    let start = std::time::Instant::now();
    let Ran { text, found, .. } = reports(&program, "reuse=1");
    assert_eq!(found.len(), 2, "{text}");
    assert!(text.contains("7199 contradictions in all"), "{text}");
    // At 5.5 ms for each report, this would take 40 s.
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// The program has more combinations of writers than the library can record.
#[test]
fn a_full_table_is_said() {
    let Some(program) = built("full.c", "full") else { return };
    let text = reports(&program, "").text;
    assert!(text.starts_with("tbaa-witness: a table was full, so the program"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let output = Command::new(&program).arg("few").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// With an unlimited stack, Linux puts mappings where the library's shadow memory must be.
#[test]
fn a_stack_without_limit_is_given_one() {
    let Some(program) = built("faults/scalars.c", "endless") else { return };
    let script = format!("ulimit -s unlimited 2> /dev/null; exec {}", program.display());
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("contradiction 1"), "{text}");
    assert_eq!(output.status.code(), Some(66), "{text}");
}

#[test]
fn the_table_has_all_names_that_modules_use() {
    let Some(_) = Llvm::get() else { return };
    let library = std::env::current_exe().unwrap().with_file_name("libtbaa_witness.so");
    let all =
        text_of(Command::new("nm").args(["-D", "--defined-only", "-j"]).arg(library)).unwrap();
    let all: BTreeSet<_> = all.lines().filter(|line| line.starts_with("__tbaa_witness_")).collect();
    let printed = build(&program("symbols.c"), "symbols", WAYS[0].1);
    let listed = text_of(&mut Command::new(printed)).unwrap();
    let listed: BTreeSet<_> = listed.lines().collect();
    assert!(all.len() > 10 && all.is_subset(&listed), "{all:?}, {listed:?}");
}

#[test]
fn an_access_that_is_not_aligned_is_of_two_granules() {
    let Some(_) = Llvm::get() else { return };
    let source = program("unaligned.c");
    for (way, flags) in WAYS {
        let Ran { text, found, .. } = reports(&build(&source, way, flags), "");
        let expected = [(marked(&source, " first"), marked(&source, " second"))];
        assert_eq!(found, expected, "{way}: {text}");
    }
}
