//! Inputs that are no assembly text: C, C++, bitcode, a spec on standard input.

mod tools;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tools::folder;
fn tbaa(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(args).current_dir(folder).env_remove("CLANG").env_remove("LLVM_DIS");
    command.output().unwrap()
}

fn stdout(output: &Output) -> &str {
    assert!(output.status.success(), "{}", stderr(output));
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

const VEC: &str = include_str!("inputs/convert.c");

#[test]
fn c_is_compiled_with_the_flags_behind_the_dashes() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let folder = folder("convert/c");
    fs::write(folder.join("vec.c"), VEC).unwrap();
    let out = tbaa(&folder, &["matrix", "vec.c", "--format", "table", "--", "-DTYPE=short"]);
    assert!(stdout(&out).contains("vec.len (long at 8 of vec)"), "{}", stdout(&out));
    assert!(stdout(&out).contains("short"), "{}", stdout(&out));
    assert!(stderr(&out).contains("compiling vec.c with `clang-22 -O1 -g -DTYPE=short`"));
    // Several inputs share the flags; a lint sees the module before the passes.
    let out = tbaa(&folder, &["lint", "vec.c", "vec.c", "--", "-DTYPE=short"]);
    assert_eq!(stderr(&out).matches("-disable-llvm-passes").count(), 2, "{}", stderr(&out));
    assert!(out.status.success());
    // What clang does not like it says itself.
    let out = tbaa(&folder, &["matrix", "vec.c"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("TYPE") && stderr(&out).contains("exit status: 1"));
}

/// At -O1 and above `twice` returns 1 in place of 2: its store, which is of an
/// `int`, is not seen by its last load, which is of a `float`.
const PUN: &str = include_str!("inputs/pun.c");

/// Optimised code is wrong whatever tags are left off then: these commands see the
/// accesses as they are written, and so no level below 1.
#[test]
fn a_fault_is_found_in_c() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let folder = folder("convert/fault");
    fs::write(folder.join("pun.c"), PUN).unwrap();
    let said = "compiling pun.c with `clang-22 -O1 -g -Xclang -disable-llvm-passes";
    for flags in [&[][..], &["-O0"], &["-O3", "-w"]] {
        let of_bisect = flags.iter().map(|flag| format!("--flags={flag}"));
        let of_bisect: Vec<String> = of_bisect.collect();
        let mut bisect = vec!["bisect", "pun.c", "--recipe", "native"];
        bisect.extend(of_bisect.iter().map(String::as_str));
        let bisect = tbaa(&folder, &bisect);
        assert_eq!(bisect.status.code(), Some(1), "{}", stderr(&bisect));
        let found = std::str::from_utf8(&bisect.stdout).unwrap();
        for guilty in
            ["store i32", "pun.c:4:6, in @twice (", "load float", "pun.c:5:10, in @twice ("]
        {
            assert!(found.contains(guilty), "{guilty}: {found}");
        }
        assert!(found.starts_with("2 of 11 tagged accesses"), "{found}");
        let instrument = tbaa(&folder, &[&["instrument", "pun.c", "--"], flags].concat());
        let checked = stdout(&instrument);
        for access in ["store i32, ptr %10", "load float, ptr %11"] {
            assert!(checked.contains(access), "{access}: {checked}");
        }
        let lint = tbaa(&folder, &[&["lint", "pun.c", "--"], flags].concat());
        let found = std::str::from_utf8(&lint.stdout).unwrap();
        assert!(found.contains("one pointer is read as int and as float, in @twice"), "{found}");
        for output in [bisect, instrument, lint] {
            assert!(stderr(&output).contains(said), "{}", stderr(&output));
        }
    }
}

#[test]
fn flags_without_a_compiler_are_refused() {
    let folder = folder("convert/flags");
    fs::write(folder.join("a.ll"), "define void @f() {\n  ret void\n}\n").unwrap();
    fs::write(folder.join("a.c"), "").unwrap();
    for args in [
        &["stats", "a.ll", "--", "-O2"][..],
        &["matrix", "-", "--", "-O2"],
        &["dump", "a.ron", "--", "-O2"],
        &["blocks", "a.ll", "--", "-O2"],
        &["lint", "a.ll", "a.ll", "--", "-O2"],
        &["link", "a.json", "--", "-O2"],
        &["declare", "a.ll", "--", "-O2"],
        &["instrument", "a.ll", "--", "-O2"],
        &["bisect", "a.ll", "--flags", "-O2", "--recipe", "run"],
    ] {
        let out = tbaa(&folder, args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let said = " is not C or C++, so no compiler runs that could take the flags `-O2`";
        assert!(stderr(&out).contains(said), "{args:?}: {}", stderr(&out));
        assert!(out.stdout.is_empty(), "{args:?}");
    }
    if tools::are_there(&["clang-22"]) {
        // They are for the other input.
        let out = tbaa(&folder, &["diff", "a.c", "a.ll", "--", "-O2"]);
        assert_ne!(out.status.code(), Some(2), "{}", stderr(&out));
    }
}

#[test]
fn a_name_in_cpp_is_mangled_as_cpp() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let folder = folder("convert/cpp");
    let template = "template <class T> struct box { T v; };\n\
        namespace { struct hidden { long v; }; }\n\
        long sum(box<short> *p, void *q) { return p->v + ((hidden *)q)->v; }\n";
    fs::write(folder.join("vec.cpp"), VEC.replace("TYPE", "bool") + template).unwrap();
    let out = tbaa(&folder, &["matrix", "vec.cpp", "--format", "pairs"]);
    assert!(stdout(&out).contains("@clear(vec*)"), "{}", stdout(&out));
    let out = tbaa(&folder, &["matrix", "vec.cpp", "--format", "table"]);
    for name in
        ["box<short>.v (short at 0 of box<short>)", "(anonymous namespace)::hidden+0 (long)"]
    {
        assert!(stdout(&out).contains(name), "{}", stdout(&out));
    }
}

#[test]
fn bitcode_is_disassembled() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let folder = folder("convert/bc");
    fs::write(folder.join("vec.c"), VEC).unwrap();
    let mut clang = Command::new("clang-22");
    clang.args(["-O1", "-DTYPE=short", "-c", "-emit-llvm", "vec.c"]).current_dir(&folder);
    assert!(clang.status().unwrap().success());
    let by_name = tbaa(&folder, &["matrix", "vec.bc", "--format", "grid"]);
    let rows = stdout(&by_name);
    assert!(rows.contains('N') && stderr(&by_name).is_empty());
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(["matrix", "-", "--format", "grid"]);
    let file = fs::File::open(folder.join("vec.bc")).unwrap();
    assert_eq!(stdout(&command.stdin(file).output().unwrap()), rows);
    // Half of it is an error of llvm-dis.
    let whole = fs::read(folder.join("vec.bc")).unwrap();
    fs::write(folder.join("half.bc"), &whole[..whole.len() / 2]).unwrap();
    let out = tbaa(&folder, &["matrix", "half.bc"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("llvm-dis"), "{}", stderr(&out));
}

#[test]
fn what_cannot_be_run_is_named_with_the_remedy() {
    let folder = folder("convert/missing");
    fs::write(folder.join("a.c"), "").unwrap();
    fs::write(folder.join("a.bc"), b"BC\xc0\xde").unwrap();
    for (file, variable) in [("a.c", "CLANG"), ("a.bc", "LLVM_DIS")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        command.args(["stats", file]).current_dir(&folder).env(variable, "no-such-tool");
        let out = command.output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        let said = stderr(&out);
        assert!(said.contains("cannot run no-such-tool") && said.contains(variable), "{said}");
    }
}

#[test]
fn a_spec_on_standard_input_is_a_spec() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    for name in ["ravi.ron", "rfc-2017.ron"] {
        let path = specs.join(name);
        let by_name = tbaa(&specs, &["dump", name]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        command.args(["dump", "-"]).stdin(Stdio::from(fs::File::open(path).unwrap()));
        assert_eq!(stdout(&command.output().unwrap()), stdout(&by_name));
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = folder("convert/man");
    let out = tbaa(&folder, &["man", "pages"]);
    assert!(stdout(&out).contains("pages"));
    for page in ["tbaa.1", "tbaa-explain.1", "tbaa-man.1"] {
        let text = fs::read_to_string(folder.join("pages").join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
    fs::write(folder.join("file"), "").unwrap();
    let out = tbaa(&folder, &["man", "file"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("cannot write to file"), "{}", stderr(&out));
}

/// The flags of a build: in a database of commands and one of arguments, with a source
/// named from the build's folder, and output flags that must not reach clang.
#[test]
fn a_build_says_how_its_files_are_compiled() {
    let Some(()) = tools::find(&["clang-22"]) else { return };
    let folder = folder("convert/build");
    let [build, source] = ["out", "src"].map(|name| folder.join(name));
    for folder in [&build, &source] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(source.join("vec.c"), VEC).unwrap();
    fs::write(source.join("none.s"), "").unwrap();
    let of_assembler = r#"{ "directory": "/", "file": "none.s", "command": "as none.s" }"#;
    let directory = build.to_str().unwrap();
    let commands = [
        r#""command": "ccache cc -DTYPE=\"long long\" -MD -MF dep.d -o x.o -c ../src/vec.c""#,
        r#""arguments": ["cc", "-DTYPE=long long", "-ox.o", "-c", "../src/vec.c"]"#,
    ];
    for command in commands {
        let entry = format!(
            r#"[{of_assembler}, {{ "directory": "{directory}", "file": "../src/vec.c", {command} }}]"#
        );
        fs::write(build.join("compile_commands.json"), entry).unwrap();
        let named = tbaa(&folder, &["matrix", "-p", "out", "src/vec.c", "--format", "table"]);
        assert!(stdout(&named).contains("long long"), "{}", stdout(&named));
        // Without an input: each C file of the build.
        let all = tbaa(&folder, &["blocks", "-p", "out", "--all", "--format", "json"]);
        assert_eq!(stdout(&all).lines().count(), 1, "{}", stdout(&all));
        assert!(stderr(&all).contains("-DTYPE=long long -w`"), "{}", stderr(&all));
        assert!(!build.join("x.o").exists() && !build.join("dep.d").exists());
        let page = tbaa(&folder, &["report", "-p", "out", "-o", "all.html"]);
        assert!(stdout(&page).is_empty() && folder.join("all.html").exists());
    }
    fs::write(folder.join("other.c"), VEC).unwrap();
    let out = tbaa(&folder, &["blocks", "-p", "out", "other.c"]);
    assert!(stderr(&out).contains("does not name other.c"), "{}", stderr(&out));
    fs::write(build.join("compile_commands.json"), "{").unwrap();
    let out = tbaa(&folder, &["blocks", "-p", "out"]);
    assert!(stderr(&out).contains("is not a compilation database"), "{}", stderr(&out));
    fs::write(build.join("compile_commands.json"), "[]").unwrap();
    let out = tbaa(&folder, &["blocks", "-p", "out"]);
    assert!(stderr(&out).contains("names no C or C++ file"), "{}", stderr(&out));
}
