//! `tbaa completions` and `tbaa man`, and the shell completion of tag and access names.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::CompletionCandidate;
use clap_complete::env::Shells;
use tbaa::spec::Spec;
use tbaa_ir::{DebugInfo, Module, Names};

use crate::args::Args;
use crate::files::read_file;
use crate::find::access_name;
use crate::input::{listed_tags, reference};
use crate::printable::{function_name, printable, printable_path};
use crate::report::{Context, Result, bail};

/// The environment variable with which a shell's script asks this program for completions.
pub(crate) const ASKED: &str = "TBAA_COMPLETE";

/// The largest number of completions offered.
const OFFERED: usize = 500;

/// Prints a completion script for a shell.
///
/// The script asks this program, which looks into the input that the command
/// line names: tags and accesses are offered with what they mean.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/completions.txt"))]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

pub(super) fn run(args: &Completions, out: &mut dyn Write) -> Result {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&name) else {
        bail!("no completions are known for {name}");
    };
    Ok(shell.write_registration(ASKED, "tbaa", "tbaa", "tbaa", out)?)
}

/// Returns completions for `current` from the first .ll or .ron file on the command line.
pub(crate) fn accesses(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let is_input = |file: &PathBuf| {
        file.is_file()
            && file.extension().is_some_and(|extension| extension == "ll" || extension == "ron")
    };
    // The shell's script puts the command line behind `--`.
    let mut words = std::env::args_os().skip_while(|word| word != "--").map(PathBuf::from);
    let Some(file) = words.find(is_input) else { return Vec::new() };
    let offered = offers(&file, &current).unwrap_or_default();
    let fits = offered.into_iter().filter(|(value, _)| value.starts_with(&*current));
    let candidate = |(value, about): (String, String)| {
        CompletionCandidate::new(printable(value)).help(Some(printable(about).into()))
    };
    fits.take(OFFERED).map(candidate).collect()
}

/// Returns the values that may complete `current`, each with a description or an empty text.
fn offers(file: &Path, current: &str) -> Option<Vec<(String, String)>> {
    let (_, text) = read_file(file).ok()?;
    if file.extension().is_some_and(|extension| extension == "ron") {
        let built = Spec::load(std::str::from_utf8(&text).ok()?).ok()?;
        return Some(built.tags().keys().map(|name| (name.clone(), String::new())).collect());
    }
    let module = tbaa_ir::read(text).ok()?;
    let names = Names::of_module(&module);
    if current.starts_with('@') {
        return Some(in_functions(&module, &names, current));
    }
    let tags = listed_tags(&module);
    let number = |tag| reference(&module, module.graph().tag_node(tag));
    let numbers = tags.iter().map(|&tag| (number(tag), names.tag(tag)));
    if current.starts_with('!') {
        return Some(numbers.collect());
    }
    let places = tags.iter().map(|&tag| (names.place(tag), number(tag)));
    // A name such as `vec.len` is not offered if several tags share it, because it identifies none
    // of them. Long lists are not searched for such names: the search takes quadratic time.
    let once = |place: &str| tags.iter().filter(|&&tag| names.place(tag) == place).count() == 1;
    let mut offered: Vec<_> = places.collect();
    if offered.len() <= OFFERED {
        offered.retain(|(place, _)| once(place));
    }
    if current.is_empty() {
        offered.extend(numbers);
        return Some(offered);
    }
    let debug = DebugInfo::new(&module);
    let places = module.instructions().iter().filter_map(|of| debug.location(of));
    let lines: BTreeSet<_> = places.map(|at| (at.file, at.line)).collect();
    offered.extend(lines.into_iter().map(|(file, line)| (format!("{file}:{line}"), String::new())));
    Some(offered)
}

/// Returns functions with accesses. The function that `current` names is replaced by its accesses.
fn in_functions(module: &Module<'_>, names: &Names<'_>, current: &str) -> Vec<(String, String)> {
    let mut offered = Vec::new();
    for (function, name) in (0..).zip(module.functions()) {
        let instructions = module.accesses_of(function);
        let prefix = format!("@{}:", function_name(name));
        if !current.starts_with(&prefix) {
            let about = format!("{} accesses", instructions.len());
            offered.extend((!instructions.is_empty()).then_some((prefix, about)));
            continue;
        }
        offered.extend(instructions.map(|index| {
            let about = module.instructions()[index].tag.map(|tag| names.tag(tag));
            (access_name(module, index), about.unwrap_or_default())
        }));
    }
    offered
}

/// Writes the manual's pages, one for each command.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/man.txt"))]
pub(crate) struct Man {
    /// The folder, which is made if it is not there.
    pub(crate) folder: PathBuf,
}

pub(super) fn man(args: &Man, out: &mut dyn Write) -> Result {
    let folder = printable_path(&args.folder);
    let made = fs::create_dir_all(&args.folder);
    let written = made.and_then(|()| clap_mangen::generate_to(Args::command(), &args.folder));
    written.context(format_args!("cannot write to {folder}"))?;
    writeln!(out, "the pages of tbaa are in {folder}")?;
    Ok(())
}
