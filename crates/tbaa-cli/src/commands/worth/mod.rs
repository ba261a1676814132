//! `tbaa worth` measures how tags improve code. `tbaa plugin` prints the path of a plugin for LLVM.

mod show;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tbaa_ir::{Module, Sizes};
use tbaa_plugin::{Runs, Toolchain, cache, search};

use self::show::Findings;
use super::tag::Tagging;
use crate::convert::{InputArg, Origin};
use crate::input::Input;
use crate::output::{TextOrJson, write_json};
use crate::progress;
use crate::report::{Failure, Result, bail};

/// Measures what tags buy: the loads, stores and loops that LLVM makes better.
///
/// LLVM 22 optimises the module many times, each time without some NoAlias answers of its type-based analysis.
/// If the code stays the same, these answers are worth nothing. The command finds the smallest set of answers
/// that gives the same code, and prints what each of its pairs of tags improves. It stores results in a folder,
/// so a second run continues where the first one ended.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/worth.txt"))]
pub(crate) struct Worth {
    #[command(flatten)]
    pub(crate) input: InputArg,
    /// Give the module tags first, as `tbaa tag` does: what would tags buy?
    #[arg(long)]
    tag: bool,
    #[command(flatten)]
    tagging: Tagging,
    /// The passes that `opt` runs on the module.
    #[arg(long, value_name = "PIPELINE", default_value = "default<O2>")]
    passes: String,
    /// The number of times that LLVM may optimise the module. 0 measures only all tags together.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    runs: usize,
    /// List at most this many pairs, functions and tags.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    top: usize,
    /// The folder for results; by default below the user's cache folder.
    #[arg(long, alias = "keep", value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// The output.
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
}

pub(super) fn plugin(out: &mut dyn Write) -> Result {
    let tools = cache().and_then(|cache| Toolchain::find(&cache)).map_err(Failure::unusable)?;
    writeln!(out, "{}", tools.plugin.display())?;
    Ok(())
}

pub(super) fn run(args: &Worth, out: &mut dyn Write) -> Result {
    let input = match args.tag {
        true => {
            args.tagging.tagged(&args.input).and_then(|(file, text)| Input::of_text(file, text))
        }
        false => Input::open(Origin::from(&args.input).as_written()),
    }?;
    let module = input.module()?;
    if module.attached_tags().is_empty() {
        bail!(
            "{}: no access has a tag. clang writes tags at -O1 and above without \
             -fno-strict-aliasing; rustc writes none",
            input.file()
        );
    }
    progress::doing("compiling the plugin");
    let cache = cache().map_err(Failure::unusable)?;
    let tools = Toolchain::find(&cache).map_err(Failure::unusable)?;
    let folder = args.cache.clone().unwrap_or_else(|| cache.join("worth"));
    let runs = Runs::new(&tools, &folder, input.text(), &args.passes);
    let mut runs = runs.map_err(Failure::unusable)?;
    let found = search(&mut runs, &calls(module), args.runs, |done, left| {
        let groups = if left == 0 { String::new() } else { format!(", {left} groups left") };
        progress::doing(format!("run {done} of {}{groups}", args.runs));
    });
    let found = found.map_err(Failure::unusable)?;
    let times = times(&runs)?;
    progress::end();
    let findings = Findings::of(&input, &found, times);
    match args.format {
        TextOrJson::Text => findings.write(args.top, out)?,
        TextOrJson::Json => write_json(&findings, out)?,
    }
    Ok(())
}

/// Returns pairs of names: a function, and a function that it calls directly.
fn calls(module: &Module<'_>) -> Vec<(String, String)> {
    let name =
        |name: &[u8]| String::from_utf8_lossy(name.trim_ascii()).trim_matches('"').to_owned();
    let (mut calls, sizes) = (Vec::new(), Sizes::new(module));
    for (at, function) in (0..).zip(module.functions()) {
        let body = module.function(&sizes, at);
        let callees =
            body.instructions.iter().filter_map(|inst| Some(name(body.call(inst)?.callee)));
        let callees: BTreeSet<_> = callees.filter(|callee| !callee.is_empty()).collect();
        calls.extend(callees.into_iter().map(|callee| (name(function), callee)));
    }
    calls
}

/// If the first run with TBAA takes longer than this, `opt` is timed once with and once without.
const LONG: Duration = Duration::from_secs(5);

/// Returns the time of `opt` with and without TBAA: the shortest of up to three runs each.
fn times(runs: &Runs<'_>) -> Result<[Duration; 2]> {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..3 {
        for (run, shortest) in [Runs::with_types, Runs::without_types].iter().zip(&mut shortest) {
            let start = Instant::now();
            run(runs).map_err(Failure::unusable)?;
            *shortest = (*shortest).min(start.elapsed());
        }
        if shortest[0] > LONG {
            break;
        }
    }
    Ok(shortest)
}
