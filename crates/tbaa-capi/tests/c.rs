//! Runs C and C++ programs with the installed libtbaa, some under valgrind and the sanitizers.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{compile, flags, have, prefix, repository, run, source};

/// C programs for gcc, valgrind and clang's sanitizers. All but `jit.c` print `ok` at the end.
const PROGRAMS: [&str; 4] = ["api.c", "emit.c", "threads.c", "jit.c"];

/// Returns the compiler's arguments for the shared library, followed by `more`.
fn shared(more: &[&str]) -> Vec<String> {
    let mut flags = flags(&["--cflags", "--libs"]);
    flags.extend(["-pthread"].iter().chain(more).map(|&flag| flag.to_owned()));
    flags
}

fn with_static_library() -> Vec<String> {
    let mut found = flags(&["--cflags"]);
    found.push(prefix().join("lib/libtbaa.a").display().to_string());
    let private = flags(&["--libs", "--static"]);
    found.extend(private.into_iter().filter(|flag| flag != "-ltbaa"));
    found.push("-pthread".to_owned());
    found
}

fn output(program: &Path) -> String {
    run(&mut Command::new(program))
}

#[track_caller]
fn expect(program: &Path, output: &str) {
    let name = program.file_name().unwrap().to_string_lossy();
    if name.starts_with("jit") {
        let expected = fs::read_to_string(source("jit.expected")).unwrap();
        assert_eq!(output, expected, "{name}");
    } else {
        assert_eq!(output.lines().last(), Some("ok"), "{name}");
    }
}

#[test]
fn programs_run_by_gcc_and_under_valgrind() {
    let Some(()) = have(&["cc", "gcc", "pkg-config", "valgrind"]) else { return };
    for name in PROGRAMS {
        let stem = name.trim_end_matches(".c");
        if name == "api.c" {
            let program = compile("gcc", &source(name), with_static_library(), "api-static");
            expect(&program, &output(&program));
        }
        let program = compile("gcc", &source(name), shared(&[]), &format!("{stem}-gcc"));
        expect(&program, &output(&program));
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        valgrind.args(["--show-leak-kinds=definite,indirect"]).arg(&program);
        expect(&program, &run(&mut valgrind));
    }
}

#[test]
fn programs_run_under_sanitizers() {
    let Some(()) = have(&["cc", "clang-22", "pkg-config"]) else { return };
    for name in PROGRAMS {
        let stem = name.trim_end_matches(".c");
        let arguments = shared(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
        let program = compile("clang-22", &source(name), arguments, &format!("{stem}-asan"));
        expect(&program, &output(&program));
    }
    // Four threads of `threads.c` query tags while its main thread adds types.
    let arguments = shared(&["-fsanitize=thread"]);
    let program = compile("clang-22", &source("threads.c"), arguments, "threads-tsan");
    // The library is not instrumented, so the sanitizer cannot see how the library counts a
    // snapshot's holders. Reports on calls from the library are suppressed.
    let suppressions = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tsan.supp");
    fs::write(&suppressions, "called_from_lib:libtbaa\n").unwrap();
    let options = format!("halt_on_error=1 suppressions={}", suppressions.display());
    expect(&program, &run(Command::new(&program).env("TSAN_OPTIONS", options)));
}

#[test]
fn headers_are_c_and_cpp_of_several_standards() {
    let Some(()) = have(&["cc", "gcc", "g++", "clang-22", "clang++-22", "pkg-config"]) else {
        return;
    };
    for (compiler, language, standards) in [
        ("gcc", "c", ["c99", "c11", "c2x"]),
        ("clang-22", "c", ["c99", "c11", "c23"]),
        ("g++", "c++", ["c++11", "c++17", "c++20"]),
        ("clang++-22", "c++", ["c++11", "c++17", "c++23"]),
    ] {
        for standard in standards {
            let mut command = Command::new(compiler);
            command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic", "-x"]);
            command.arg(language).arg(format!("-std={standard}"));
            let header = if language == "c" { "tbaa.h" } else { "tbaa.hpp" };
            command.args(["-include", header, "-include", header]);
            run(command.args(flags(&["--cflags"])).arg("/dev/null"));
        }
    }
}

#[test]
fn llvm_gets_the_same_nodes_as_from_its_own_builder() {
    let Some(()) = have(&["cc", "gcc", "g++", "clang++-22", "pkg-config", "llvm-config-22"]) else {
        return;
    };
    let config = |option: &[&str]| {
        let words = run(Command::new("llvm-config-22").args(option));
        words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let mut arguments = vec!["-isystem".to_owned()];
    arguments.extend(config(&["--includedir"]));
    arguments.extend(shared(&[]));
    arguments.extend(config(&["--ldflags", "--libs", "core"]));
    for name in ["llvm", "tagged", "tag"] {
        let program = compile("gcc", &source(&format!("{name}.c")), &arguments, name);
        assert_eq!(output(&program), "ok\n", "{name}");
    }
    let expected = |name: &str| fs::read_to_string(source(&format!("{name}.expected"))).unwrap();
    for name in ["stack", "regions"] {
        let program = compile("gcc", &source(&format!("{name}.c")), &arguments, name);
        assert_eq!(output(&program), expected(name));
    }
    arguments.push("-fno-rtti".to_owned());
    let program = compile("clang++-22", &source("metadata.cpp"), &arguments, "metadata");
    assert_eq!(output(&program), expected("metadata"));
    // The C++ header must also work without exceptions.
    arguments.push("-fno-exceptions".to_owned());
    for compiler in ["g++", "clang++-22"] {
        let program = compile(compiler, &source("header.cpp"), &arguments, "header");
        assert_eq!(output(&program), "ok\n", "{compiler}");
    }
}

#[test]
fn cmake_finds_the_package() {
    let Some(()) = have(&["cc", "cmake"]) else { return };
    let build = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cmake");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(repository().join("examples/c")).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["jit", "jit-static"] {
        let program = build.join(program);
        expect(&program, &output(&program));
    }
    // If `libjit-module.so` exported libtbaa's functions, the linker could not remove unused ones.
    let symbols = run(Command::new("nm").arg("-D").arg(build.join("libjit-module.so")));
    assert!(symbols.contains("main") && !symbols.contains("tbaa_"), "{symbols}");
}

/// Returns the names of the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tbaa.h");
    let header = fs::read_to_string(header).unwrap();
    let declarations = header.split("extern \"C\" {").nth(1).unwrap();
    let declarations = declarations.split("}  // extern").next().unwrap();
    // Each name is before a parenthesis, on a line that is not a comment.
    let lines = declarations.lines().filter(|line| !line.starts_with([' ', '/', '#']));
    let name = |line: &str| Some(line.split_once('(')?.0.rsplit([' ', '*']).next()?.to_owned());
    let names: BTreeSet<String> = lines.filter_map(name).collect();
    assert!(names.len() > 50 && names.iter().all(|name| name.starts_with("tbaa_")), "{names:?}");
    names
}

#[test]
fn every_function_is_called_by_a_program() {
    let files = [
        "api.c", "emit.c", "threads.c", "llvm.c", "tagged.c", "tag.c", "jit.c", "regions.c",
        "metadata.cpp",
    ];
    let mut text: String = files.map(|file| fs::read_to_string(source(file)).unwrap()).concat();
    let inline = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tbaa-llvm.h");
    text += &fs::read_to_string(inline).unwrap();
    let called = |name: &&String| !text.contains(&format!("{name}("));
    let missing: Vec<_> = declared().iter().filter(called).cloned().collect();
    assert_eq!(missing, [""; 0], "functions that no program calls");
}

#[test]
fn the_guides_show_what_the_programs_say() {
    let read = |file: &str| fs::read_to_string(repository().join(file)).unwrap();
    let guide = read("docs/embed-c.md") + &read("docs/ravi.md");
    let files = [
        "emit.c", "threads.c", "jit.c", "stack.c", "regions.c", "tagged.c", "header.cpp",
        "metadata.cpp",
    ];
    let mut files = files.map(|file| fs::read_to_string(source(file)).unwrap()).to_vec();
    files.extend(
        ["ravi_tbaa.h", "ravi_tbaa.cpp"].map(|file| read(&format!("examples/ravi-jit/{file}"))),
    );
    let mut shown = 0;
    for opening in ["```c\n", "```cpp\n"] {
        for code in guide.split(opening).skip(1) {
            let code = code.split("```").next().unwrap();
            assert!(files.iter().any(|file| file.contains(code)), "in no program:\n{code}");
            shown += 1;
        }
    }
    assert!(shown > 11, "{shown}");
}

#[test]
fn the_library_exports_what_the_header_declares_and_no_more() {
    let Some(()) = have(&["cc", "pkg-config", "nm", "readelf"]) else { return };
    let library: PathBuf = prefix().join("lib/libtbaa.so");
    let symbols = run(Command::new("nm").args(["-D", "--defined-only", "-j"]).arg(&library));
    let exported: BTreeSet<String> = symbols.lines().map(str::to_owned).collect();
    assert_eq!(exported, declared());
    let header = run(Command::new("readelf").arg("-d").arg(&library));
    let soname = format!("libtbaa.so.{}", tbaa_capi::TBAA_ABI_VERSION);
    assert!(header.contains(&format!("[{soname}]")), "{header}");
    for needed in header.lines().filter(|line| line.contains("(NEEDED)")) {
        let known = ["libc.so", "libgcc_s.so", "libm.so", "ld-linux"];
        assert!(known.iter().any(|known| needed.contains(known)), "{needed}");
    }
    let size = fs::metadata(&library).unwrap().len();
    println!("libtbaa.so: {size} bytes");
    // The limit allows for a build that is not optimised.
    assert!(size < 16 << 20, "libtbaa.so has {size} bytes: what got in?");
}

#[test]
fn costs_are_measured() {
    let Some(()) = have(&["cc", "gcc", "pkg-config"]) else { return };
    let program = compile("gcc", &source("cost.c"), shared(&["-O2"]), "cost");
    println!("{}", output(&program));
}
