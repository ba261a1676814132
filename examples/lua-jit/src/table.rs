//! Every program under every switch, as a table in Markdown.

use std::path::Path;

use crate::codegen::Loads;
use crate::measure::{self, Outcome};
use crate::options::Options;
use crate::tags::{Switch, Tags};

/// Where the programs are.
pub(crate) const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

/// The paths of all programs, sorted.
///
/// # Errors
///
/// Where they cannot be read.
pub(crate) fn programs() -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(PROGRAMS).map_err(|error| format!("{PROGRAMS}: {error}"))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path().to_str()?.to_owned()));
    let mut paths: Vec<String> = paths.filter(|path| path.ends_with(".lua")).collect();
    paths.sort();
    Ok(paths)
}

/// Prints the table; fails where a result differs.
///
/// # Errors
///
/// What went wrong, and in which program.
pub(crate) fn print(options: &Options) -> Result<(), String> {
    let files = if options.files.is_empty() { programs()? } else { options.files.clone() };
    println!(
        "| program | tags | base loads left | all loads left | compiled, ms | ran, ms | gain |"
    );
    println!("|---|---|---|---|---|---|---|");
    for file in &files {
        let source = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let proto = measure::read(file, &source)?;
        let mut best: Vec<Outcome> = Vec::new();
        // One switch after the other, so that all see the machine's moods.
        for _ in 0..options.runs {
            for (at, switch) in Switch::ALL.into_iter().enumerate() {
                let outcome = Tags::new(switch, options.elements)
                    .and_then(|tags| {
                        let reload = measure::reload(switch);
                        measure::run(&proto, &tags, reload, None, &mut |_| {})
                    })
                    .map_err(|error| format!("{file}: {error}"))?;
                match best.get_mut(at) {
                    None => best.push(outcome),
                    Some(best) => {
                        best.running = best.running.min(outcome.running);
                        if outcome.compiled.time() < best.compiled.time() {
                            best.compiled = outcome.compiled;
                        }
                    }
                }
            }
        }
        let Some(plain) = best.first() else { continue };
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        for (switch, best) in Switch::ALL.into_iter().zip(&best) {
            if plain.output != best.output {
                return Err(format!("{file}: tags {switch} change the result"));
            }
            let ms = |time: std::time::Duration| time.as_secs_f64() * 1e3;
            let before = Loads::sum(&best.compiled.before);
            let after = Loads::sum(&best.compiled.after);
            println!(
                "| {} | {switch} | {} of {} | {} of {} | {:.1} | {:.1} | {:.2} |",
                if switch == Switch::None { &name } else { "" },
                after.bases,
                before.bases,
                after.all,
                before.all,
                ms(best.compiled.time()),
                ms(best.running),
                plain.running.as_secs_f64() / best.running.as_secs_f64().max(1e-9),
            );
        }
    }
    Ok(())
}
