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
        self.with(env!("CARGO_BIN_EXE_tbaa")).args(line.split_whitespace()).output().unwrap()
    }

    /// A command in the folder, in which `tbaa` finds what it needs.
    fn with(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env_remove("TBAA_RECORD").env("CLANG", "clang-22");
        // cargo puts the library beside the tests.
        let tests = std::env::current_exe().unwrap();
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap());
        command
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
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Each script of the folder says what it shows.
#[test]
fn scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc");
    let mut failed = String::new();
    for file in fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()) {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let is_script = file.extension().is_some_and(|it| it == "sh");
        let Some(project) = is_script.then(|| Project::new(name, &[])).flatten() else {
            continue;
        };
        let mut command = project.with("bash");
        command.arg("-eux").arg(&file).env("HERE", &folder).env("TBAA", env!("CARGO_BIN_EXE_tbaa"));
        let output = command.output().unwrap();
        if !output.status.success() {
            failed += &format!("{name}: {}\n", text(&output.stderr));
        }
    }
    assert!(failed.is_empty(), "{failed}");
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
