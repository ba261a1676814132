//! The arguments of `tbaa bisect`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::convert::{Words, words};

/// Finds the tags that make a program go wrong.
///
/// Runs the command on copies of the module with fewer and fewer tags, and names the fewest accesses whose tags are
/// enough to cause the fault, and the pairs that LLVM takes for different memory because of them. A recipe and
/// `--recorded` then run the program with checks, which say whether the program breaks that promise or LLVM is wrong.
/// Two accesses among 5,000 take at most 40 runs. Give it C or C++, or the output of clang's `-O1 -Xclang
/// -disable-llvm-passes`: in optimised code the fault may be there whatever tags are left off.
///
/// The name of the copy stands for `{}` in the command; without any, the copy is its standard input.
/// Its exit status says whether the fault shows.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/bisect.txt"))]
pub(crate) struct Bisect {
    /// A .ll or .bc file, C or C++, or `-`.
    #[arg(required_unless_present = "recorded")]
    pub(crate) input: Option<PathBuf>,
    /// Search all modules of the program that was built by CC='tbaa cc --record DIR'. The
    /// command runs the program in its place.
    #[arg(long, alias = "build", value_name = "DIR")]
    #[arg(conflicts_with_all = ["input", "flags", "recipe"])]
    pub(crate) recorded: Option<PathBuf>,
    /// Run each copy up to N times; one run in which the fault shows is enough.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Flags for clang, where the input is C or C++; quotes are a shell's.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, value_parser = words)]
    pub(crate) flags: Vec<Words>,
    /// Compile and run the program instead of a command.
    #[arg(long, value_enum)]
    pub(crate) recipe: Option<Recipe>,
    /// The flags that a recipe gives to the compiler.
    #[arg(long, alias = "opt", value_name = "FLAGS", default_value = "-O2", requires = "recipe")]
    #[arg(allow_hyphen_values = true, value_parser = words)]
    pub(crate) recipe_flags: Words,
    /// The time limit of a run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) timeout: u64,
    /// Go on with an interrupted search: answers are kept in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Look for this many guilty sets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) sets: usize,
    /// Show what the command prints, on standard error.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// The command, or the program's arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "recipe")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum, Debug)]
pub(crate) enum Recipe {
    /// `opt` and `lli`.
    Run,
    /// `clang`.
    Native,
}
