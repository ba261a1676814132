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
        let mut command = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        command.current_dir(&self.0).env_remove("TBAA_RECORD").env("CLANG", "clang-22");
        // cargo puts the library beside the tests.
        let tests = std::env::current_exe().unwrap();
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap());
        command.args(line.split_whitespace()).output().unwrap()
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
