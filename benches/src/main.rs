//! Measures the library against LLVM 22 and against a hardware lower bound,
//! and writes `docs/performance.md`.

mod growth;
mod heap;
mod limit;
mod llvm;
mod machine;
mod programs;
mod queries;
mod report;
mod sample;
mod scaling;
mod sections;
mod synthetic;
mod texts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use llvm::Llvm;
use programs::of;
use report::Report;
use sample::Sampler;
use sections::{Run, SECTIONS};

const HELP: &str = "\
measures tbaa against LLVM 22 and against the machine, and writes docs/performance.md

usage: cargo run --release -p tbaa-bench -- [--quick] [--only SECTION] [--out FILE]

  --quick         small inputs, few samples: does everything work?
  --only SECTION  one part: programs, shapes, sizes, naive, growth, memory, adversaries or lowering
  --out FILE      where the report goes; with --quick or --only, default is standard output
";

struct Arguments {
    quick: bool,
    only: Option<String>,
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprint!("error: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match measure(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments { quick: false, only: None, out: None };
    while let Some(word) = words.next() {
        match &word[..] {
            "--help" | "-h" => return Ok(None),
            "--quick" => arguments.quick = true,
            "--only" => {
                let name = words.next().unwrap_or_default();
                if !SECTIONS.iter().any(|(section, _)| *section == name) {
                    return Err(format!("--only wants a section, not `{name}`"));
                }
                arguments.only = Some(name);
            }
            "--out" => arguments.out = Some(words.next().ok_or("--out wants a file")?.into()),
            _ => return Err(format!("unknown argument `{word}`")),
        }
    }
    Ok(Some(arguments))
}

fn measure(arguments: &Arguments) -> Result<(), String> {
    let cache = cache()?;
    let llvm = Llvm::load(&cache);
    let llvm =
        llvm.inspect_err(|why| eprintln!("without LLVM 22, which is not usable: {why}")).ok();
    // What the machine is at, before this run makes it busy.
    let machine = machine::describe(llvm.as_ref().map(|llvm| &llvm.version[..]));
    let mut run = Run {
        sampler: Sampler::new(&cache.join("criterion"), arguments.quick),
        llvm: llvm.as_ref(),
        cache,
        quick: arguments.quick,
        report: Report::default(),
    };
    for (name, section) in SECTIONS {
        if arguments.only.as_deref().is_none_or(|only| only == name) {
            section(&mut run)?;
        }
    }
    let report = run.report.print(&machine);
    let whole = !arguments.quick && arguments.only.is_none();
    let page = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
    match arguments.out.clone().or_else(|| whole.then(page)) {
        Some(file) => std::fs::write(&file, report).map_err(of(&file)),
        None => {
            print!("{report}");
            Ok(())
        }
    }
}

/// A folder in cargo's target folder, two above this program.
fn cache() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = program.ancestors().nth(2).ok_or("the program is in no folder")?;
    let folder = target.join("tbaa-bench");
    std::fs::create_dir_all(&folder).map_err(of(&folder))?;
    Ok(folder)
}
