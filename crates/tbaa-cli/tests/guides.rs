//! Runs the commands in the guides, and compares the output with what the guides show.
//!
//! In the README and the pages under `docs`, a block of kind `console` is a session. `sh` runs the
//! lines that start with `$ `; the lines after a command are its output in a terminal. A command
//! continues in the next line after a backslash, and within single quotes. A line `...` matches any
//! lines. If another block's first line is a comment with a file's name, that file gets the block.
//! In the README's blocks of kind `sh`, lines that start with `tbaa` or `clang-22` are run, too.
//! The sessions of a page run one after the other in a folder with the repository's `crates`,
//! `specs` and `tests`. `tests/fresh.sh` runs two pages' commands on a bare machine.
//!
//! `TBAA_GUIDES=overwrite` replaces outputs without `...`: look at the change before you commit.

mod tools;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    tools::path("../..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let pages = tools::files("../../docs", &["md"]).into_iter();
    pages.map(|page| page.canonicalize().unwrap()).chain([repository().join("README.md")]).collect()
}

/// Returns whether the tools that a session needs are installed.
fn can_run(session: &str) -> bool {
    let mut tools = vec!["clang-22", "opt-22", "lli-22", "llvm-as-22", "llvm-link-22", "python3"];
    let mut words = session.split_whitespace();
    let is_compiled = words.any(|word| word.ends_with(".c") || word.ends_with(".cpp"));
    let is_needed = |tool: &str| session.contains(tool) || session.contains("--recipe");
    tools.retain(|&tool| is_needed(tool) || is_compiled && tool == "clang-22");
    tools::are_there(&tools)
}

/// Returns an emptied folder for a page. It contains only links to the repository's folders.
fn scratch(page: &Path) -> PathBuf {
    let folder = tools::emptied(&format!("guides/{}", page.file_stem().unwrap().display()));
    for name in ["crates", "specs", "tests"] {
        std::os::unix::fs::symlink(repository().join(name), folder.join(name)).unwrap();
    }
    folder
}

/// Runs a command in a folder, and returns its output as a terminal would show it.
fn run(command: &str, folder: &Path) -> String {
    // In a pipeline, the order of the two output streams may vary: show only standard output.
    let all = if command.contains('|') { "" } else { "exec 2>&1\n" };
    let mut shell = tools::shell(&format!("{all}{command}"));
    let output = shell.current_dir(folder).env("NO_COLOR", "1").output().unwrap();
    eprintln!("$ {command}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the lines that start with `tbaa` or `clang-22`. The exit status must be 0 or 1.
fn try_out(list: &str, folder: &Path) {
    let ours = ["tbaa ", "clang-22 "];
    for command in list.lines().filter(|line| ours.iter().any(|start| line.starts_with(start))) {
        let command = format!("{{ {command}\n}} >out.txt 2>&1; echo $?");
        let status = run(&command, folder);
        let printed = fs::read_to_string(folder.join("out.txt")).unwrap();
        assert!(matches!(status.trim(), "0" | "1"), "{command}: {status}{printed}");
    }
}

/// Compares lines. An expected line `...` matches any lines.
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

/// Runs a session's commands, and checks their output. Returns the session. With
/// `TBAA_GUIDES=overwrite`, the present outputs replace those without `...` in the returned text.
fn follow(session: &str, folder: &Path, page: &str) -> String {
    let overwrite = std::env::var("TBAA_GUIDES").is_ok_and(|value| value == "overwrite");
    let mut now = String::new();
    let mut lines = session.lines().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").expect("a session begins with a command");
        let mut command = command.to_owned();
        while command.ends_with('\\') || command.matches('\'').count() % 2 == 1 {
            write!(command, "\n{}", lines.next().unwrap()).unwrap();
        }
        writeln!(now, "$ {command}").unwrap();
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
        // After a skipped session, skip the page's later ones, which may need its files.
        let mut is_followed = true;
        let mut blocks = text.split_inclusive("```");
        while let Some(prose) = blocks.next() {
            now += prose;
            let Some(block) = blocks.next() else { break };
            let body = block.strip_suffix("```").expect("a block ends");
            let (kind, body) = body.split_once('\n').unwrap_or((body, ""));
            is_followed &= kind != "console" || can_run(body);
            // A documentation test compiles this block. The block must have no hidden lines,
            // because a reader who copies it copies them, too.
            if kind == "rust" && name == "README.md" {
                let is_program = body.contains("fn main()");
                assert!(is_program && !body.lines().any(|line| line.starts_with('#')), "{body}");
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

/// Returns the anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let named = |it: &char| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(named).collect::<String>().replace(' ', "-")
}

#[test]
fn what_the_pages_link_and_name_is_there() {
    let prose = |page: &Path| -> String {
        let text = fs::read_to_string(page).unwrap_or_default();
        text.split("```").step_by(2).collect()
    };
    let folders = ["src", "crates", "tests", "docs", "specs", "examples", "benches", "packaging"];
    let others = ["CONTRIBUTING.md", "CHANGELOG.md"].map(|it| repository().join(it));
    let mut dead = Vec::new();
    for page in pages().into_iter().chain(others) {
        let (text, name) = (prose(&page), page.file_name().unwrap().display());
        let inline = text.split("](").skip(1).filter_map(|it| Some(it.split_once(')')?.0));
        let references = text.lines().filter_map(|line| Some(line.split_once("]: ")?.1));
        for link in inline.chain(references).filter(|inline| !inline.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let text = prose(&to);
            let mut headings = text.lines().filter(|line| line.starts_with('#'));
            let is_there = heading.is_empty()
                || headings.any(|it| anchor(it.trim_start_matches('#')) == heading);
            if !to.exists() || !is_there {
                dead.push(format!("{name}: {link}"));
            }
        }
        let spans = text.split("\n\n").flat_map(|part| part.split('`').skip(1).step_by(2));
        for word in spans.flat_map(str::split_whitespace).filter(|span| !span.contains(['*', '{']))
        {
            let path = word.split([':', '#']).next().unwrap();
            let is_ours = path.split_once('/').is_some_and(|(top, _)| folders.contains(&top));
            if is_ours && !repository().join(path).exists() {
                dead.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}
