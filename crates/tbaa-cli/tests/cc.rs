//! `tbaa cc`, `tbaa c++` and `tbaa run` in a compiler's place, and `tbaa bisect --build` on
//! what they record.

mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for a test, with these files.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Option<Project> {
        if !tools::are_there(&["clang-22"]) {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cc").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        Some(Project(folder))
    }

    fn tbaa(&self, line: &str) -> Output {
        self.with(env!("CARGO_BIN_EXE_tbaa"), line).output().unwrap()
    }

    /// A command in the folder, in which `tbaa` finds what it needs.
    fn with(&self, program: impl AsRef<std::ffi::OsStr>, line: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env_remove("TBAA_RECORD").env("CLANG", "clang-22");
        // cargo puts the library beside the tests.
        let tests = std::env::current_exe().unwrap();
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap());
        command.args(line.split_whitespace());
        command
    }

    #[track_caller]
    fn has(&self, files: &[&str]) {
        let is_missing = |file: &&&str| !self.0.join(file).is_file();
        let missing: Vec<_> = files.iter().filter(is_missing).collect();
        let there = fs::read_dir(&self.0).unwrap().map(|it| it.unwrap().file_name());
        assert!(missing.is_empty(), "{missing:?} in {:?}", there.collect::<Vec<_>>());
    }

    /// The same, where nothing is said and all is well.
    #[track_caller]
    fn quiet(&self, line: &str) {
        let output = self.tbaa(line);
        let said = text(&output.stderr);
        assert_eq!(
            (output.status.code(), &*said),
            (Some(0), ""),
            "{line}: {}",
            text(&output.stdout)
        );
    }

    fn run(&self, program: &str) -> Output {
        let mut command = Command::new("timeout");
        command.arg("60").arg(self.0.join(program)).current_dir(&self.0).output().unwrap()
    }

    #[track_caller]
    fn reports(&self, program: &str) {
        let output = self.run(program);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(66), "{program}: {said}");
        assert!(said.contains("tbaa-witness: contradiction 1: "), "{said}");
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program of two modules: one writes a `float`, the other reads an `int`.
const FAULT: &[(&str, &str)] = &[
    (
        "main.c",
        "#include <stdlib.h>\n#include \"put.h\"\n\
         int main(void) { float *p = malloc(8); put(p); return *(int *)p == 0; }\n",
    ),
    ("put.c", "#include \"put.h\"\nvoid put(float *p) { *p = 1; }\n"),
    ("put.h", "void put(float *p);\n"),
];

#[test]
fn a_project_is_compiled_linked_and_checked() {
    let Some(project) = Project::new("project", FAULT) else { return };
    project.quiet("cc -O2 -Wall -Werror -MD -c main.c -o main.o");
    project.quiet("cc -O2 -MMD -MF put.dep -c put.c");
    // Rules are for the objects, and name the headers.
    let rule = project.read("main.d");
    assert!(rule.starts_with("main.o:") && rule.contains("put.h"), "{rule}");
    let rule = project.read("put.dep");
    assert!(rule.starts_with("put.o:") && rule.contains("put.h"), "{rule}");
    project.quiet("cc main.o put.o -o program");
    project.reports("program");
    // Several inputs at once, a response file, the default name.
    fs::write(project.0.join("line"), "-O1 main.c\n'put.c' -D\"X=a b\"").unwrap();
    project.quiet("cc @line");
    project.reports("a.out");
    project.quiet("cc -c main.c put.c");
    assert!(project.0.join("put.o").is_file());
    // At -O0, too; a shared library; link-time optimisation.
    project.quiet("cc -O0 main.c put.c -o unoptimised");
    project.reports("unoptimised");
    project.quiet("cc -O1 -fPIC -shared put.c -o libput.so");
    project.quiet("cc -O1 main.c -L. -lput -Wl,-rpath,. -o with_library");
    project.reports("with_library");
    // Far from its data, code cannot name it.
    project.quiet("cc -O1 -mcmodel=large main.c put.c -o large");
    project.reports("large");
    project.quiet("cc -O2 -flto -c main.c -o main.o");
    project.quiet("cc -O2 -flto -c put.c -o put.o");
    project.quiet("cc -O2 -flto main.o put.o -o optimised");
    project.reports("optimised");
    // What is no compiling is clang's alone.
    let preprocessed = text(&project.tbaa("cc -E main.c").stdout);
    assert!(preprocessed.contains("void put(float *p);"), "{preprocessed}");
    project.quiet("cc -O1 -S put.c");
    assert!(project.read("put.s").contains("__tbaa_witness_check"));
    assert!(text(&project.tbaa("cc --version").stdout).contains("clang version"));
}

/// What clang writes beside the object has the names that clang gives it.
#[test]
fn files_beside_the_object_are_where_clang_puts_them() {
    let Some(project) = Project::new("beside", FAULT) else { return };
    fs::create_dir(project.0.join("obj")).unwrap();
    project.quiet("cc -O1 --coverage -c main.c -o obj/x.o");
    project.quiet("cc -O1 --coverage -c put.c");
    project.has(&["obj/x.gcno", "put.gcno"]);
    project.quiet("cc -O1 --coverage obj/x.o put.o -o counted");
    project.reports("counted");
    project.has(&["obj/x.gcda", "put.gcda"]);
    project.quiet("cc -O1 --coverage main.c put.c -o obj/at_once");
    project.reports("obj/at_once");
    project.has(&["obj/at_once-main.gcno", "obj/at_once-main.gcda", "obj/at_once-put.gcda"]);
    project.quiet("cc -g -gsplit-dwarf -c main.c -o obj/split.o");
    project.quiet("cc -g -gsplit-dwarf main.c put.c -o split");
    project.has(&["obj/split.dwo", "split-main.dwo", "split-put.dwo"]);
    // clang 22 warns of its own assembly then.
    for line in ["-c main.c", "-save-temps=obj -c put.c -o obj/put.o", "main.c put.c -o temps"] {
        assert_eq!(project.tbaa(&format!("cc -save-temps {line}")).status.code(), Some(0));
    }
    project.has(&["main.i", "main.s", "put.i", "put.s", "obj/put.s", "obj/put.i"]);
    let names = fs::read_dir(&project.0).unwrap().map(|it| it.unwrap().file_name());
    let odd: Vec<_> = names.filter(|it| it.display().to_string().starts_with("module")).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn headers_are_compiled_ahead() {
    let Some(project) = Project::new("header", FAULT) else { return };
    for flags in ["", "-O2", "-O0 -g"] {
        project.quiet(&format!("cc {flags} -x c-header put.h -o put.pch"));
        project.quiet(&format!("cc {flags} put.h -o put.h.pch"));
        project.quiet(&format!("cc {flags} -include-pch put.pch main.c put.c -o program"));
        project.reports("program");
        project.quiet(&format!("cc {flags} -include put.h main.c put.c -o program"));
    }
}

#[test]
fn what_cannot_be_checked_is_refused_or_linked_plainly() {
    let Some(project) = Project::new("refused", FAULT) else { return };
    for other in ["type", "address", "undefined,thread"] {
        let output = project.tbaa(&format!("cc -O1 -fsanitize={other} -c main.c -o no.o"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let name = other.rsplit(',').next().unwrap();
        assert!(said.contains(&format!("-fsanitize={name} cannot be together with")), "{said}");
        assert!(!project.0.join("no.o").exists());
    }
    // Another machine's program gets no library of this one.
    fs::write(project.0.join("alone.c"), "int f(int *p) { return *p; }\n").unwrap();
    let output = project.tbaa("cc -m32 -shared -nostartfiles -fPIC alone.c -o alone.so -###");
    assert_eq!(output.status.code(), Some(0));
    let output = project.tbaa("cc -m32 -c alone.c");
    let said = text(&output.stderr);
    assert!(said.contains("alone.c is compiled without checks: expected x86_64"), "{said}");
    fs::write(project.0.join("linker"), "#!/bin/sh\necho \"$@\" > line\n").unwrap();
    let linked = |flags: &str| {
        let mut command = project.with("sh", "-c");
        let tbaa = env!("CARGO_BIN_EXE_tbaa");
        command.arg(format!("chmod +x linker && {tbaa} cc {flags} alone.o --ld-path=./linker"));
        assert_eq!(command.status().unwrap().code(), Some(0));
        project.read("line")
    };
    assert!(!linked("-m32").contains("libtbaa_witness"));
    assert!(linked("").contains("libtbaa_witness"));
}

/// A launcher of compilers, one word for a compiler, and a compiler of several words.
#[test]
fn it_stands_in_each_place_of_a_compiler() {
    let Some(project) = Project::new("places", FAULT) else { return };
    let found = Command::new("sh").args(["-c", "command -v clang-22"]).output().unwrap();
    let clang = text(&found.stdout).trim().to_owned();
    // By that compiler, also where another is named.
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(0), ""), "{command:?}");
    };
    let tbaa = env!("CARGO_BIN_EXE_tbaa");
    for compiler in [&*clang, "clang-22"] {
        let line = format!("{compiler} -O1 main.c put.c -o launched");
        run(project.with(tbaa, &line).env("CLANG", "/none"));
        project.reports("launched");
    }
    run(&mut project.with(tbaa, "/usr/bin/c++ -x c++ -fsyntax-only put.h"));
    fs::write(project.0.join("wrap"), "#!/bin/sh\necho >> calls\nexec \"$@\"\n").unwrap();
    let wrapped = "sh ./wrap clang-22";
    run(project.with(tbaa, "cc -O1 main.c put.c -o wrapped").env("CLANG", wrapped));
    project.reports("wrapped");
    assert_eq!(project.read("calls").lines().count(), 5);
    for name in ["tbaa-cc", "tbaa-c++"] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin").join(name);
        fs::copy(script, project.0.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(tbaa, project.0.join("tbaa")).unwrap();
    run(&mut project.with(project.0.join("tbaa-cc"), "-O1 main.c put.c -o one_word"));
    project.reports("one_word");
    run(&mut project.with(project.0.join("tbaa-c++"), "-O1 -x c++ put.c -c"));
    let cmake =
        "cmake_minimum_required(VERSION 3.21)\nproject(p C)\nadd_executable(prog main.c put.c)\n";
    fs::write(project.0.join("CMakeLists.txt"), cmake).unwrap();
    if tools::are_there(&["cmake"]) {
        let line = format!(
            "-S . -B build -DCMAKE_C_COMPILER={clang} -DCMAKE_C_COMPILER_LAUNCHER={tbaa} \
             -DCMAKE_C_LINKER_LAUNCHER={tbaa}"
        );
        run(&mut project.with("cmake", &line));
        run(&mut project.with("cmake", "--build build"));
        project.reports("build/prog");
    }
}

/// A program with the library beside it runs where it is moved to.
#[test]
fn a_program_moves_with_its_library() {
    let Some(project) = Project::new("moves", FAULT) else { return };
    let own = project.0.join("lib");
    fs::create_dir(&own).unwrap();
    let library = std::env::current_exe().unwrap().with_file_name("libtbaa_witness.so");
    fs::copy(library, own.join("libtbaa_witness.so")).unwrap();
    let line = "cc -O1 main.c put.c -o program";
    let built =
        project.with(env!("CARGO_BIN_EXE_tbaa"), line).env("TBAA_WITNESS_LIBRARY", "lib").status();
    assert!(built.unwrap().success());
    project.reports("program");
    fs::rename(own.join("libtbaa_witness.so"), project.0.join("libtbaa_witness.so")).unwrap();
    project.reports("program");
}

/// A host without checks that loads two plug-ins with checks in turn, one where the other was.
#[test]
fn plug_ins_are_loaded_again() {
    let host = "#include <dlfcn.h>\n#include <stdio.h>\n\
        int main(int n, char **v) {\nvoid *places[2];\nfor (int i = 0; i < 6; i++) {\n\
        void *library = dlopen(v[1 + i % 2], RTLD_NOW | RTLD_LOCAL);\n\
        if (!library) return puts(dlerror()), 1;\n\
        double (*run)(int) = (double (*)(int))dlsym(library, \"run\");\n\
        run(i);\nplaces[i % 2] = dlsym(library, \"pool\");\ndlclose(library);\n}\n\
        return places[0] == places[1] ? 0 : 2;\n}\n";
    let files = [
        ("host.c", host),
        (
            "ints.c",
            "int pool[4096];\ndouble run(int n) { for (int i = 0; i < 4096; i++) pool[i] = n; return n; }\n",
        ),
        (
            "floats.c",
            "float pool[4096];\ndouble run(int n) { double sum = n; \
             for (int i = 0; i < 4096; i++) sum += pool[i]; return sum; }\n",
        ),
        (
            "fault.c",
            "#include <stdlib.h>\nint pool;\n\
             double run(int n) { float *p = malloc(4); *p = n; return *(int *)p; }\n",
        ),
    ];
    let Some(project) = Project::new("plug_ins", &files) else { return };
    for name in ["ints", "floats", "fault"] {
        project.quiet(&format!("cc -O1 -fPIC -shared {name}.c -o {name}.so"));
    }
    let plain = Command::new("clang-22")
        .current_dir(&project.0)
        .args(["-w", "host.c", "-ldl", "-o", "host"])
        .status();
    assert!(plain.unwrap().success());
    let run = |plug_ins: [&str; 2]| {
        let mut command = Command::new(project.0.join("host"));
        command.args(plug_ins).current_dir(&project.0).output().unwrap()
    };
    let output = run(["./ints.so", "./floats.so"]);
    assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(0), ""));
    let output = run(["./fault.so", "./fault.so"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{said}");
    assert!(said.contains("tbaa-witness: 6 contradictions in all\n"), "{said}");
}

#[test]
fn a_static_program_is_checked() {
    let there = Path::new("/usr/lib/x86_64-linux-gnu/libc.a").is_file();
    let Some(project) = Project::new("static", FAULT).filter(|_| there) else { return };
    let output = project.tbaa("cc -O1 -static main.c put.c -o program");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    project.reports("program");
}

/// clang's own words and status.
#[test]
fn what_does_not_compile_ends_as_clang_does() {
    let files = [
        ("bad.c", "int f(void) { return x; }\n"),
        ("warns.c", "int f(void) { int x; return 1; }\n"),
    ];
    let Some(project) = Project::new("bad", &files) else { return };
    let output = project.tbaa("cc -c bad.c");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("bad.c:1:22: error: use of undeclared identifier 'x'"));
    assert!(!project.0.join("bad.o").exists());
    let output = project.tbaa("cc -Wall -c warns.c");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr).matches("warning: unused variable 'x'").count(), 1);
    assert_eq!(project.tbaa("cc -Wall -Werror -c warns.c").status.code(), Some(1));
    assert_eq!(project.tbaa("cc no.o -o no").status.code(), Some(1));
    assert_eq!(project.tbaa("cc -c no.c").status.code(), Some(1));
}

#[test]
fn what_has_no_checks_is_said() {
    let files = [
        (
            "add.s",
            ".globl add\nadd: lea (%rdi,%rsi), %eax\nret\n.section .note.GNU-stack,\"\",@progbits\n",
        ),
        ("main.c", "int add(int, int);\nint main(void) { return add(1, -1); }\n"),
    ];
    let Some(project) = Project::new("assembly", &files) else { return };
    let output = project.tbaa("cc -c add.s -o add.o");
    let said = text(&output.stderr);
    assert_eq!(said, "note: add.s is compiled without checks: it is assembly\n");
    project.quiet("cc main.c add.o -o program");
    assert_eq!(project.run("program").status.code(), Some(0));
    let output = project.tbaa("cc --target=aarch64-linux-gnu -ffreestanding -c main.c -o arm.o");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("note: main.c is compiled without checks: expected x86_64 Linux"),
        "{said}"
    );
}

#[test]
fn exceptions_and_threads_stay_as_they_are() {
    let source = "#include <map>\n#include <stdexcept>\n#include <string>\n#include <thread>\n\
        #include <vector>\nstatic int depth(int n) {\n  std::string text(n, 'x');\n\
        if (n == 40) throw std::runtime_error(text);\n  return depth(n + 1) + int(text.size());\n}\n\
        int main() {\n  std::vector<std::thread> threads;\n  std::vector<int> sums(4);\n\
        for (int i = 0; i < 4; i++) threads.emplace_back([&sums, i] {\n\
        std::map<std::string, double> map;\n\
        for (int k = 0; k < 500; k++) map[std::to_string(k % 50)] += k;\n\
        try { depth(i); } catch (const std::exception &e) { sums[i] = int(map.size()) + e.what()[0]; }\n\
        });\n  for (auto &thread : threads) thread.join();\n\
        return sums[0] + sums[3] == 2 * (50 + 'x') ? 0 : 1;\n}\n";
    let Some(project) = Project::new("cxx", &[("main.cpp", source)]) else { return };
    project.quiet("c++ -O2 -std=c++17 -pthread main.cpp -o program");
    let output = project.run("program");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_single_file_is_run_with_its_arguments() {
    let files = [
        ("prog.c", "#include <stdio.h>\nint main(int n, char **v) { puts(v[n - 1]); return N; }\n"),
        (
            "wrong.c",
            "#include <stdlib.h>\nint main(void) { float *p = malloc(4); *p = 1; return *(int *)p; }\n",
        ),
    ];
    let Some(project) = Project::new("run", &files) else { return };
    let output = project.tbaa("run prog.c --flags -DN=7 -- -x last");
    assert_eq!(
        (output.status.code(), &*text(&output.stdout)),
        (Some(7), "last\n"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(project.tbaa("run wrong.c").status.code(), Some(66));
    assert_eq!(project.tbaa("run prog.c").status.code(), Some(1));
}

/// Three modules, of which two have one access each of the guilty pair.
const SPLIT: &[(&str, &str)] = &[
    (
        "main.c",
        "#include <stdlib.h>\nvoid put(float *), set(int *, int);\nint get(int *);\n\
         static long other[8];\nlong busy(int n) { for (int i = 0; i < 8; i++) other[i] += n; return other[3]; }\n\
         int main(void) { int *p = malloc(8); float *volatile same = (float *)p;\n\
         set(p, 1); int before = get(p); put(same);\n\
         return get(p) == before && busy(before); }\n",
    ),
    ("put.c", "float last;\nvoid put(float *p) { *p = last; last += *p; }\n"),
    ("get.c", "int get(int *p) { return *p; }\nvoid set(int *p, int n) { *p = n; }\n"),
];

#[test]
fn a_guilty_pair_of_two_modules_is_found_in_a_recorded_build() {
    let Some(project) = Project::new("build", SPLIT) else { return };
    if !tools::are_there(&["llvm-ar-22"]) {
        return;
    }
    for line in [
        "cc --record record -O2 -flto -c main.c",
        "cc --record record -O2 -flto -c put.c",
        "cc --record record -O2 -flto -c get.c -o get.o",
    ] {
        project.quiet(line);
    }
    // One of the objects is in an archive.
    let mut archive = Command::new("llvm-ar-22");
    archive.current_dir(&project.0).args(["rc", "libget.a", "get.o"]);
    assert!(archive.status().unwrap().success());
    project.quiet("cc --record record -O2 -flto main.o put.o -L. -lget -o program");
    // The program is as it would be without recording: wrong.
    assert_eq!(project.run("program").status.code(), Some(1));
    let before =
        ["program", "put.o", "libget.a"].map(|file| fs::read(project.0.join(file)).unwrap());
    let output = project.tbaa("bisect --build record -- ./program");
    let (found, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{found}{said}");
    assert!(found.starts_with("2 of "), "{found}{said}");
    assert!(found.contains("put.c:2:") && found.contains(", in @put ("), "{found}");
    assert!(found.contains("get.c:1:") && found.contains(", in @get ("), "{found}");
    assert!(found.contains("their tags promise that 1 and 2 never overlap"), "{found}");
    // All is as it was.
    let after =
        ["program", "put.o", "libget.a"].map(|file| fs::read(project.0.join(file)).unwrap());
    assert!(before == after);
    let output = project.tbaa("bisect --build record -- true");
    assert_eq!(
        text(&output.stdout),
        "the program's tags are not to blame: the fault does not show with all of them\n"
    );
    let output = project.tbaa("bisect --build nothing -- true");
    assert!(text(&output.stderr).contains("build with CC='tbaa cc --record nothing'"));
}

/// Ctrl-C puts a recorded build back.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_puts_a_recorded_build_back() {
    let script = "#!/bin/sh\necho >> count\n./program\nstatus=$?\n\
                  test $(wc -l < count) -le 3 || sleep 600\nexit $status\n";
    let Some(project) = Project::new("interrupted", &[SPLIT, &[("test.sh", script)]].concat())
    else {
        return;
    };
    for line in [
        "cc --record record -O2 -flto -c main.c",
        "cc --record record -O2 -flto -c put.c",
        "cc --record record -O2 -flto -c get.c",
        "cc --record record -O2 -flto main.o put.o get.o -o program",
    ] {
        project.quiet(line);
    }
    let temporary = project.0.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let files = ["program", "main.o", "put.o", "get.o"];
    let read = || files.map(|file| fs::read(project.0.join(file)).unwrap());
    let before = read();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    command.args(["bisect", "--build", "record", "--", "sh", "test.sh"]);
    command.current_dir(&project.0).env("TMPDIR", &temporary).env("CLANG", "clang-22");
    let mut child = command.spawn().unwrap();
    // With all tags the program was run three times; then it is built without any.
    let is_changed = || {
        let count = fs::read_to_string(project.0.join("count")).unwrap_or_default();
        count.lines().count() > 3 && read() != before
    };
    let waited = (0..6000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        is_changed()
    });
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert!(waited, "the build was not changed");
    assert_eq!(status.code(), Some(130), "{status}");
    assert!(read() == before);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}
