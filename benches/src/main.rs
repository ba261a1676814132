//! Measures the library against LLVM 22 and against a hardware lower bound. A full run writes
//! `docs/performance.md` unless `--out` names another file.

mod growth;
mod heap;
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

use clap::Parser;
use llvm::Llvm;
use programs::of;
use report::Report;
use sample::Sampler;
use sections::{Run, SECTIONS};

/// Measures tbaa against LLVM 22 and a hardware lower bound, and writes docs/performance.md.
#[derive(Parser)]
struct Arguments {
    /// Measure small inputs with few samples, to check that every section works.
    #[arg(long)]
    quick: bool,
    /// Measure only this section.
    #[arg(long, value_name = "SECTION", value_parser = SECTIONS.map(|(name, _)| name))]
    only: Option<String>,
    /// The file for the report; the default with --quick or --only is standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Result<(), String> {
    let cache = cache()?;
    let llvm = Llvm::load(&cache);
    let llvm =
        llvm.inspect_err(|why| eprintln!("without LLVM 22, which is not usable: {why}")).ok();
    // The machine is described first, because the benchmarks raise the machine's load.
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

/// Makes the folder `tbaa-bench` beside this program's folder, in cargo's target folder.
fn cache() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = program.ancestors().nth(2).ok_or("the program is in no folder")?;
    let folder = target.join("tbaa-bench");
    std::fs::create_dir_all(&folder).map_err(of(&folder))?;
    Ok(folder)
}
