//! Checks the programs in `tests/questions`, as their first comment lines require.
//!
//! A program begins with comment lines `KEY: VALUE`. `Title` says what is tested. A question that
//! somebody asked also has `Asked`, `Source` and `Answer`, and a row in `docs/symptoms.md`; `Needs`
//! says what is missing for an answer. A line `$ COMMAND` is a shell command, which runs in the
//! program's folder; `FILE` stands for the program's name, `$OUT` for a folder for output. `says`
//! and `never` are texts that the command's output must or must not contain. `exit` is the
//! command's exit status, by default 0.
//!
//! The value of `loads`, `looped`, `scalar` or `checks` is `A > B`, two lists of clang's flags. At
//! -O2, the key's number must be smaller with B than with A. `loads` counts loads, and `looped`
//! counts loads and stores in loops, both in `f` or, without `f`, in the first function. `scalar`
//! is 1 if no loop of `f` is vectorised. `checks` counts run-time checks before vectorised loops.
//!
//! `TBAA_SYMPTOMS=overwrite` rewrites the tables in `docs/symptoms.md`.

mod tools;

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tbaa_ir::Opcode;

/// A program, with the keys and values of its first comment lines.
struct Question {
    file: PathBuf,
    lines: Vec<(String, String)>,
}

impl Question {
    fn read(file: PathBuf) -> Question {
        let text = fs::read_to_string(&file).unwrap();
        let mut lines: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            let Some(line) = line.strip_prefix("//").or_else(|| line.strip_prefix(';')) else {
                break;
            };
            match (line.strip_prefix(" $ "), line.split_once(": "), line.strip_prefix("  ")) {
                (Some(command), ..) => lines.push(("$".to_owned(), command.to_owned())),
                // An indented line continues a value.
                (_, _, Some(more)) => {
                    let value = &mut lines.last_mut().unwrap().1;
                    *value = format!("{value} {}", more.trim());
                }
                (_, Some((key, value)), _) => lines.push((key.trim().to_owned(), value.to_owned())),
                _ => panic!("{}: {line}", file.display()),
            }
        }
        Question { file, lines }
    }

    fn name(&self) -> &str {
        self.file.file_name().unwrap().to_str().unwrap()
    }

    fn get(&self, wanted: &str) -> Option<&str> {
        self.lines.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str())
    }

    /// Runs the commands, and returns the failures.
    fn wrong(&self) -> Vec<String> {
        let (mut wrong, mut last) = (Vec::new(), None);
        // A command must end with status 0 unless `exit` names another.
        let mut status = Some(0);
        let lines = self.lines.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in lines.chain([("$", "true")]) {
            match (key, &last) {
                ("$", last_run) => {
                    let ended = |run: &&Output| run.status.code() != status;
                    let failed = last_run.as_ref().filter(ended);
                    wrong.extend(failed.map(|run| format!("{}: {}", run.status, said(run))));
                    (last, status) = (Some(self.tbaa(value)), Some(0));
                }
                ("exit", _) => status = value.parse().ok(),
                ("says" | "never", Some(output)) => {
                    if said(output).contains(value) != (key == "says") {
                        wrong.push(format!("{key} {value:?}: {}", said(output)));
                    }
                }
                ("loads" | "looped" | "scalar" | "checks", _) => {
                    let is_of_loops = matches!(key, "scalar" | "checks");
                    let counts = value.split(" > ").map(|flag| match is_of_loops {
                        true => self.vectors(key, flag),
                        false => self.count(key, flag),
                    });
                    let counts: Vec<usize> = counts.collect();
                    println!("{}: {key} {counts:?} before and after", self.name());
                    if counts[1] >= counts[0] {
                        wrong.push(format!("{key} {counts:?} before and after"));
                    }
                }
                ("Title" | "Asked" | "Source" | "Answer" | "Needs", _) => {}
                _ => wrong.push(format!("unknown key {key}")),
            }
        }
        wrong.into_iter().map(|wrong| format!("{}: {wrong}", self.name())).collect()
    }

    fn tbaa(&self, line: &str) -> Output {
        let mut command = tools::shell(&line.replace("FILE", self.name()));
        command.current_dir(self.file.parent().unwrap());
        command.env("CLANG", "clang-22").env("NO_COLOR", "1");
        command.env("OUT", env!("CARGO_TARGET_TMPDIR"));
        // cargo builds the runtime library into the folder of the tests.
        let tests = std::env::current_exe().unwrap();
        command.env("TBAA_WITNESS_LIBRARY", tests.parent().unwrap()).output().unwrap()
    }

    /// Returns the number for `scalar` or `checks`, from the output of LLVM's loop vectoriser.
    fn vectors(&self, key: &str, flag: &str) -> usize {
        let mut clang = Command::new("clang-22");
        let flags = "-O2 -w -S -emit-llvm -o /dev/null -fno-discard-value-names \
                     -mllvm -print-after=loop-vectorize -mllvm -filter-print-funcs=f,_ZN6filter1fEv";
        clang.args(flags.split(' '));
        let output = clang.args(flag.split(' ')).arg(&self.file).output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name(), said(&output));
        let text = said(&output);
        let blocks = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
        assert!(text.contains("define "), "{text}");
        match key {
            "checks" => blocks("vector.memcheck"),
            // A loop that becomes a memset has no block `vector.body`, but counts as vectorised.
            _ => usize::from(blocks("vector.body") == 0 && !text.contains("@llvm.memset")),
        }
    }

    /// Returns the number for `loads` or `looped`. Unrolling and vectorising are off.
    fn count(&self, key: &str, flag: &str) -> usize {
        let mut clang = Command::new("clang-22");
        clang.args(["-O2", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-w"]);
        clang.args(["-S", "-emit-llvm", "-o", "-"]).args(flag.split(' ')).arg(&self.file);
        let output = clang.output().unwrap();
        assert!(output.status.success(), "{}: {}", self.name(), said(&output));
        let module = tbaa_ir::read(&output.stdout).unwrap();
        let function = module.functions().position(|function| function == b"f").unwrap_or(0);
        let sizes = tbaa_ir::Sizes::new(&module);
        let body = module.function(&sizes, function as u32);
        let blocks = &body.blocks;
        // A block that can reach itself is in a loop.
        let is_looped = |block: usize| {
            let (mut pending, mut seen) =
                (blocks[block].successors.clone(), vec![false; blocks.len()]);
            while let Some(next) = pending.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    pending.extend(&blocks[next].successors);
                }
            }
            seen[block]
        };
        let count = |(at, block): (usize, &tbaa_ir::Block<'_>)| {
            let is_counted = |&inst: &usize| match body.instructions[inst].opcode {
                Opcode::Load => key == "loads" || is_looped(at),
                Opcode::Store => key != "loads" && is_looped(at),
                _ => false,
            };
            block.instructions.iter().filter(|&inst| is_counted(inst)).count()
        };
        blocks.iter().enumerate().map(count).sum()
    }
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it)).concat()
}

fn questions() -> Vec<Question> {
    let files = tools::files("tests/questions", &["c", "cpp", "ll"]);
    files.into_iter().map(Question::read).collect()
}

#[test]
fn each_question_has_its_right_answer() {
    let Some(()) = tools::find(&["clang-22", "opt-22"]) else { return };
    let all = questions();
    let wrong = std::thread::scope(|scope| {
        let some = all.chunks(all.len().div_ceil(4));
        let threads: Vec<_> = some
            .map(|some| scope.spawn(|| some.iter().flat_map(Question::wrong).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Count the programs with `Asked` that `tbaa run` rejects, and how many of them `lint` reports.
    let is_wrong = |question: &&Question| {
        let of_run = question.get("$").is_some_and(|it| it.starts_with("tbaa run"));
        question.get("Asked").is_some() && of_run && question.get("exit") == Some("66")
    };
    let programs: Vec<_> = all.iter().filter(is_wrong).collect();
    let is_found = |of: &&&Question| said(&of.tbaa("tbaa lint FILE")).contains("[TBAA110]");
    let found = programs.iter().filter(is_found);
    let says = format!("`tbaa lint FILE` finds {} of these {}", found.count(), programs.len());
    assert!(fs::read_to_string(page()).unwrap().contains(&says), "docs/symptoms.md: {says}");
}

fn page() -> PathBuf {
    tools::path("../../docs/symptoms.md")
}

/// In `docs/symptoms.md`, the commands `tbaa blocks`, `tbaa run` and all others have a table each.
#[test]
fn the_page_lists_the_questions() {
    let mut tables = [String::new(), String::new(), String::new()];
    for question in questions() {
        let Some(asked) = question.get("Asked") else { continue };
        let get = |key| question.get(key).unwrap_or_else(|| panic!("{}: {key}", question.name()));
        let source = get("Source").split(' ').map(|url| {
            let name = url.rsplit("://").next().unwrap();
            let parts: Vec<_> = name.split('/').collect();
            match parts[..] {
                ["github.com", _, repository, _, number] => {
                    format!("[{repository}#{number}]({url})")
                }
                _ => format!("[{name}]({url})"),
            }
        });
        let source: Vec<_> = source.collect();
        let command = get("$").replace("FILE", question.name());
        let needs = question.get("Needs").map_or(String::new(), |what| format!(" (needs {what})"));
        // The tables for `tbaa blocks` and `tbaa run` show only the command's arguments.
        let all = ["tbaa blocks ", "tbaa run "];
        let of = all.iter().position(|it| command.starts_with(it));
        let shown = of.map_or(&command[..], |of| &command[all[of].len()..]);
        writeln!(
            tables[of.unwrap_or(2)],
            "| {asked} | {}{needs} | `{}` | {} |",
            get("Answer"),
            shown.replace('|', "\\|"),
            source.join(", ")
        )
        .unwrap();
    }
    let text = fs::read_to_string(page()).unwrap();
    // Keep the text before, between and after the tables' rows.
    let mut parts = text.split("|---|---|---|---|\n");
    let mut wanted = parts.next().unwrap().to_owned();
    for (part, table) in parts.zip(&tables) {
        let rest = part.find("\n\n").map_or("", |at| &part[at + 1..]);
        wanted += &format!("|---|---|---|---|\n{table}{rest}");
    }
    if std::env::var("TBAA_SYMPTOMS").is_ok_and(|var| var == "overwrite") {
        fs::write(page(), wanted).unwrap();
    } else {
        assert_eq!(text, wanted, "TBAA_SYMPTOMS=overwrite writes the tables");
    }
}
