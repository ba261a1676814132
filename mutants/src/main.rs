//! Mutation testing in one build; see README.md.

mod rewrite;
mod trial;

use rewrite::Rewriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The library's test programs, but for those that compare with LLVM alone.
const PROGRAMS: &str = "oracle graph spec text types modules emit lower readers";

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let usage = "give a directory for the mutated copy, then files or folders of one crate's src";
    let to = PathBuf::from(arguments.next().ok_or(usage)?);
    let of: Vec<String> = arguments.collect();
    if of.is_empty() {
        return Err(usage.into());
    }
    let library = Library::of(&of[0]).ok_or(usage)?;
    let tree = to.join("tree");
    let listed =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).output()?.stdout;
    let all: Vec<String> = String::from_utf8(listed)?.lines().map(str::to_owned).collect();
    let files: Vec<_> = all
        .iter()
        .filter(|file| {
            file.ends_with(".rs") && !file.ends_with("/tests.rs") && **file != library.root
        })
        .filter(|file| of.iter().any(|it| file.starts_with(it.as_str())))
        .collect();
    copy(&all, &files, &library, &tree)?;
    let list = to.join("left-out.txt");
    let mut rewriter = Rewriter::default();
    rewriter.left_out =
        fs::read_to_string(&list).unwrap_or_default().lines().map(str::to_owned).collect();
    loop {
        rewriter.mutants.clear();
        for file in &files {
            let (to, text) = (tree.join(file), rewriter.file(file, &fs::read_to_string(file)?)?);
            write_if_new(&to, &text)?;
        }
        let found = rejected(&tree, &library.package)?;
        if found.is_empty() {
            let numbered = rewriter.mutants.iter().enumerate();
            let lines: Vec<_> = numbered.map(|(i, it)| format!("{}\t{it}\n", i + 1)).collect();
            fs::write(to.join("mutants.tsv"), lines.concat())?;
            let programs = env::var("MUTANT_PROGRAMS").unwrap_or_else(|_| PROGRAMS.to_owned());
            return trial::run(&to, &rewriter.mutants, &trial::programs(&tree, &library.package, &programs)?);
        }
        rewriter
            .left_out
            .extend(found.into_iter().map(|number| rewriter.mutants[number - 1].clone()));
        let lines: Vec<&str> = rewriter.left_out.iter().map(String::as_str).collect();
        fs::write(&list, lines.join("\n"))?;
    }
}

/// The crate that gets mutants.
struct Library {
    package: String,
    /// Its `lib.rs`, from the repository's root.
    root: String,
}

impl Library {
    /// The crate that a file or folder such as `crates/tbaa-ir/src/scan.rs` belongs to.
    fn of(path: &str) -> Option<Library> {
        let folder = &path[..path.find("src/").or_else(|| path.ends_with("src").then(|| path.len() - 3))?];
        let manifest = fs::read_to_string(format!("{folder}Cargo.toml")).ok()?;
        let (_, package) = manifest.split_once("[package]\nname = \"")?;
        let package = package.split('"').next()?.to_owned();
        Some(Library { package, root: format!("{folder}src/lib.rs") })
    }
}

/// Copies the repository's files but those that get mutants, and gives the library a module that
/// says which mutant is on.
fn copy(files: &[String], mutated: &[&String], library: &Library, tree: &Path) -> Result<()> {
    for file in files.iter().filter(|file| !mutated.contains(file) && **file != library.root) {
        write_if_new(&tree.join(file), &fs::read(file)?)?;
    }
    let text = fs::read_to_string(&library.root)?;
    let at = text.find("\nmod ").ok_or_else(|| format!("{} has no modules", library.root))?;
    let text = format!(
        "{}\n#![allow(warnings, arithmetic_overflow, unconditional_panic)]\nmod mutant;{}",
        &text[..at],
        &text[at..]
    );
    write_if_new(&tree.join(&library.root), &text)?;
    write_if_new(&tree.join(&library.root).with_file_name("mutant.rs"), include_str!("mutant.rs"))?;
    Ok(())
}

/// Keeps the times of files that stay, for cargo.
fn write_if_new(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_ref()) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file in the tree"))?;
    fs::write(path, text)
}

/// The numbers of mutants that do not compile.
fn rejected(tree: &Path, package: &str) -> Result<Vec<usize>> {
    let output = cargo(tree).args(["check", "-p", package, "--message-format=short"]).output()?;
    let messages = String::from_utf8_lossy(&output.stderr);
    let mut found = Vec::new();
    for message in messages.lines().filter(|it| it.contains(": error")) {
        let mut parts = message.split(':');
        let (Some(file), Some(Ok(line))) = (parts.next(), parts.next().map(str::parse::<usize>))
        else {
            continue;
        };
        let text = fs::read_to_string(tree.join(file))?;
        // The mutant stands at the error's line or a few lines before.
        let before = text.lines().take(line + 1).collect::<Vec<_>>().join("\n");
        let last = before.rsplit("mutant::on(").next().and_then(|it| it.split(')').next());
        found.push(last.and_then(|it| it.parse().ok()).ok_or_else(|| message.to_owned())?);
    }
    if found.is_empty() && !output.status.success() {
        return Err(messages.into_owned().into());
    }
    eprintln!("{} mutants do not compile", found.len());
    Ok(found)
}

fn cargo(tree: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(tree).env("CARGO_PROFILE_DEV_DEBUG", "false");
    cargo
}
