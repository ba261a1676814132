//! The guides, followed as a reader would.
//!
//! In the README and the pages under `docs`, a block of kind `console` is a
//! session: lines that start with `$ ` are given to `sh`, and the lines after
//! them are what a terminal shows. A command goes on in the next line after a backslash, and within single quotes. A line
//! `...` stands for any lines. A block of another kind whose first line is a comment with a file's name is that file.
//! The commands of the README's lists are run, too. The sessions of a page run one after the other in one folder, in
//! which the repository's `crates`, `specs` and `tests` stand too. `tests/fresh.sh` follows two pages on a bare machine.
//!
//! With `TBAA_GUIDES=overwrite` the sessions without `...` are rewritten: look at
//! the difference before it is committed.

mod tools;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(repository().join("docs")).unwrap().map(|it| it.unwrap().path());
    let mut pages: Vec<_> = docs.filter(|it| it.extension().is_some_and(|e| e == "md")).collect();
    pages.push(repository().join("README.md"));
    pages.sort();
    pages
}

/// Returns whether the tools of LLVM that a session names are there, and clang where it names a source.
fn can_run(session: &str) -> bool {
    let mut tools = vec!["clang-22", "opt-22", "lli-22", "llvm-as-22", "llvm-link-22"];
    let mut words = session.split_whitespace();
    let is_compiled = words.any(|word| word.ends_with(".c") || word.ends_with(".cpp"));
    let is_needed = |tool: &str| session.contains(tool) || session.contains("--recipe");
    tools.retain(|&tool| is_needed(tool) || is_compiled && tool == "clang-22");
    tools::are_there(&tools)
}

/// A folder for a page, empty but for links to the repository's files.
fn scratch(page: &Path) -> PathBuf {
    let folder = tools::emptied(&format!("guides/{}", page.file_stem().unwrap().display()));
    for name in ["crates", "specs", "tests"] {
        std::os::unix::fs::symlink(repository().join(name), folder.join(name)).unwrap();
    }
    folder
}

/// Runs a command in a folder, and returns what a terminal would show of it.
fn run(command: &str, folder: &Path) -> String {
    // The order of the two streams of a pipeline depends on which program is quicker.
    let all = if command.contains('|') { "" } else { "exec 2>&1\n" };
    let mut shell = tools::shell(&format!("{all}{command}"));
    let output = shell.current_dir(folder).env("NO_COLOR", "1").output().unwrap();
    eprintln!("$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the commands of the README's lists, which print what they like.
fn try_out(list: &str, folder: &Path) {
    let ours = ["tbaa ", "clang-22 "];
    for command in list.lines().filter(|line| ours.iter().any(|start| line.starts_with(start))) {
        let command = format!("{{ {command}\n}} >out.txt 2>&1; echo $?");
        let status = run(&command, folder);
        let printed = fs::read_to_string(folder.join("out.txt")).unwrap();
        assert!(matches!(status.trim(), "0" | "1"), "{command}: {status}{printed}");
    }
}

/// Compares lines, a line `...` among the expected ones standing for any.
fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|from| matches(rest, &printed[from..])),
        [line, rest @ ..] => printed.first() == Some(line) && matches(rest, &printed[1..]),
    }
}

/// Writes a block into the file that its first line names, if it names one.
fn write_file(block: &str, folder: &Path) {
    let first = block.lines().next().unwrap_or_default();
    let name = ["; ", "// ", "# "].iter().find_map(|mark| first.strip_prefix(mark));
    let is_name = |name: &&str| !name.contains([' ', '/']) && name.contains('.');
    if let Some(name) = name.filter(is_name) {
        fs::write(folder.join(name), block).unwrap();
    }
}

/// Follows a session, and returns it as it is now.
fn follow(session: &str, folder: &Path, page: &str) -> String {
    let overwrite = std::env::var("TBAA_GUIDES").is_ok_and(|value| value == "overwrite");
    let mut now = String::new();
    let mut lines = session.lines().peekable();
    while let Some(line) = lines.next() {
        let mut command =
            line.strip_prefix("$ ").expect("a session begins with a command").to_owned();
        writeln!(now, "{line}").unwrap();
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            let more = lines.next().unwrap();
            writeln!(now, "{more}").unwrap();
            write!(command, "\n{more}").unwrap();
        }
        let mut expected = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            expected.push(line);
        }
        let printed = run(&command, folder);
        let printed: Vec<_> = printed.lines().collect();
        if !matches(&expected, &printed) {
            let (is, shown) = (printed.join("\n"), expected.join("\n"));
            assert!(overwrite, "{page}: $ {command}\nprints\n{is}\n\nand the page says\n{shown}");
        }
        let keep = expected.contains(&"...") || !overwrite;
        for line in if keep { expected } else { printed } {
            writeln!(now, "{line}").unwrap();
        }
    }
    now
}

#[test]
fn what_the_guides_show_is_printed() {
    let mut sessions = 0;
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&page).unwrap();
        let folder = scratch(&page);
        let mut now = String::new();
        // Later sessions need what earlier ones make.
        let mut is_followed = true;
        let mut blocks = text.split_inclusive("```");
        while let Some(prose) = blocks.next() {
            now += prose;
            let Some(block) = blocks.next() else { break };
            let body = block.strip_suffix("```").expect("a block ends");
            let (kind, body) = body.split_once('\n').unwrap_or((body, ""));
            is_followed &= kind != "console" || can_run(body);
            // A documentation test compiles it; a reader who copies it gets hidden lines, too.
            if kind == "rust" && name == "README.md" {
                let is_program = body.contains("fn main()");
                assert!(is_program && !body.lines().any(|it| it.starts_with('#')), "{body}");
            }
            if kind == "console" && is_followed {
                sessions += 1;
                write!(now, "console\n{}```", follow(body, &folder, &name)).unwrap();
            } else {
                if kind == "sh" && name == "README.md" && can_run("clang-22 lli-22") {
                    try_out(body, &folder);
                }
                write_file(body, &folder);
                now += block;
            }
        }
        if now != text {
            fs::write(page, now).unwrap();
        }
    }
    assert!(sessions > 0);
}
