//! What the command line accepts, and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use tbaa::types::Equality;
use tbaa::{Code, Rules};

use crate::commands::declare::Declare;

const STATUS: &str = "\
Exit status:
  0  fine
  1  the input is readable, and something was found in it (check, verify, lint,
     bisect)
  2  unusable input or arguments";

/// Reads, dumps and queries type-based alias analysis metadata (`!tbaa`).
///
/// INPUT is LLVM assembly text as any LLVM since 3.0 prints it, a spec (a file
/// whose name ends in .ron), or `-` for assembly text on standard input.
///
/// A and B name access tags: a metadata number such as `!8` (or 8) of assembly
/// text, or the operands that `matrix` prints for a tag without a number; a
/// tag's name, or a path such as CallInfo.l.base, of a spec.
#[derive(Parser)]
#[command(name = "tbaa", version, arg_required_else_help = true, after_help = STATUS)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to colour messages; `NO_COLOR` is respected.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn into_choice(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Dump(Dump),
    Alias(Alias),
    Explain(Explain),
    Generic(Generic),
    Matrix(Matrix),
    Eval(Eval),
    Check(Check),
    Verify(Verify),
    Lint(Lint),
    Declare(Declare),
    Stats(Stats),
    Types(Types),
    Link(Link),
    Lower(Lower),
    Strip(Strip),
    Bisect(Bisect),
    Completions(Completions),
}

/// Prints the metadata.
///
/// Of a module, what `!tbaa`, `!tbaa.struct` and `!llvm.errno.tbaa` reach. Of a
/// text without any instruction, every node that has the form of a tag, a type
/// or a struct copy.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa dump f.ll                  the TBAA of a module, numbered afresh
  tbaa dump ravi.ron | llvm-as    what a spec describes, through LLVM
  tbaa dump f.ll --format ron     a spec to start from

Exit status:
  0  fine
  2  unusable input or arguments, or metadata that the format cannot express")]
pub(crate) struct Dump {
    /// A .ll file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: DumpFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum DumpFormat {
    /// Metadata that llvm-as accepts.
    #[default]
    Llvm,
    /// Attributes of MLIR's LLVM dialect.
    Mlir,
    /// A spec.
    Ron,
    /// All nodes with their operands, and which are tags, types and copies.
    Json,
}

/// Prints MayAlias or NoAlias.
///
/// Any doubt is MayAlias: different roots, a malformed tag. A tag that LLVM's
/// verifier rejects is warned of.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa alias f.ll '!8' '!12'
  tbaa alias f.ll 8 12
  tbaa alias ravi.ron CallInfo.top TValue.n

Exit status:
  0  answered, whatever the answer
  2  unusable input or arguments")]
pub(crate) struct Alias {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// Prints MayAlias or NoAlias, and why.
///
/// The first line is what `alias` prints. Then come the clause of the rule that
/// decided, what the two tags say, and, where the rule compared them, the paths
/// of the two accesses from a common type and the bytes that they touch. Offsets
/// are in bytes from the start of the type that has the field.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa explain f.ll 8 12 --rules union
  tbaa explain ravi.ron CallInfo.top CallInfo.func

Exit status:
  0  answered, whatever the answer
  2  unusable input or arguments")]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// Two tags to compare.
#[derive(clap::Args)]
pub(crate) struct Pair {
    /// A .ll file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// One tag.
    pub(crate) a: String,
    /// The other.
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
}

#[derive(clap::Args)]
pub(crate) struct RulesArg {
    /// llvm, union or union-strict; by default llvm for assembly text, and what
    /// a spec says for a spec.
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
}

/// Prints the tag of an access that replaces two, or `none`.
///
/// For assembly text the tag is printed as metadata that refers to the file's
/// own numbers, and an unknown size as `i64 -1`, as LLVM prints it; for a spec
/// by the names of its types. `none` means that no tag covers both accesses, and
/// the new access must go untagged. The order of the two can matter, as it does
/// in LLVM.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa generic f.ll 8 12                              !{!3, !3, i64 0}
  tbaa generic ravi.ron CallInfo.top CallInfo.func    (base: \"any pointer\", ...)

Exit status:
  0  answered, `none` included
  2  unusable input or arguments")]
pub(crate) struct Generic {
    #[command(flatten)]
    pub(crate) pair: Pair,
}

/// Prints the answers for all pairs of tags.
///
/// Rows and columns stand in the order in which tags first appear on an
/// instruction, functions, blocks and instructions in file order; where nothing
/// is attached, in the order of `!tbaa.tags`; for a spec in file order, two names
/// of one tag being two rows.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  grid   one line a tag, one letter a tag: M (MayAlias) or N (NoAlias)
  table  the same with names, and `.` for NoAlias, to be read by people
  json   {\"rules\": \"llvm\", \"tags\": [\"!8\", ...], \"rows\": [\"MN...\", ...]}
  svg    a picture; above 256 tags a cell stands for a block of pairs
The default is table on a terminal if there are at most 64 tags, and grid
otherwise.

Examples:
  tbaa matrix f.ll --rules llvm --format grid
  tbaa matrix ravi.ron --format svg > ravi.svg

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Matrix {
    /// A .ll file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// What to print.
    #[arg(long, value_enum)]
    pub(crate) format: Option<MatrixFormat>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MatrixFormat {
    Grid,
    Table,
    Json,
    Svg,
}

/// Compares all tagged accesses of each function with one another.
///
/// A pair is two instructions of one function that both have a `!tbaa`
/// attachment. Untagged accesses may alias everything; they are counted, and no
/// pair is made of them.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  text   per function its accesses, then for each tag with how many accesses it
         has the tags that it aliases and does not alias, and the counts
  pairs  a line for each pair, tab-separated: function; index, opcode, type and
         tag of the one access; the same of the other; MayAlias or NoAlias
  json   one document, a row of M and N for each tag of a function
The index is the instruction's position in its function, from 0.

Examples:
  tbaa eval f.ll
  tbaa eval f.ll --format pairs | grep -c NoAlias
  clang -O1 -S -emit-llvm -o - f.c | tbaa eval -

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Eval {
    /// A .ll file, or `-`.
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: EvalFormat,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum EvalFormat {
    #[default]
    Text,
    Pairs,
    Json,
}

/// Checks the expected answers of specs, by all rules that they name.
///
/// Prints each that does not hold, and a count for each spec.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa check specs/*.ron

Exit status:
  0  every expectation holds
  1  one does not
  2  a spec is unusable; the others are checked all the same")]
pub(crate) struct Check {
    /// Specs.
    #[arg(required = true, value_name = "SPEC")]
    pub(crate) specs: Vec<PathBuf>,
}

/// Reports metadata that is ill formed: what LLVM 22's verifier rejects.
///
/// Each tag is judged by the first rule that it breaks, and each type that it
/// uses by all of them. A tag that is rejected says nothing: by rule llvm every
/// query about it answers MayAlias.
///
/// LLVM follows only the last member of a union. With --rules union or
/// union-strict the tags are reported that denote no path for those rules; for
/// each it is said what LLVM makes of it.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  text   each finding with the lines it is about, what LLVM says, and what to do
  json   an array of findings; spans are in bytes from the start of the file
  sarif  SARIF 2.1.0, which editors and code hosts read

Examples:
  tbaa verify f.ll
  tbaa verify ravi.ron --rules union
  tbaa verify f.ll --format sarif > f.sarif

Exit status:
  0  nothing found
  1  something found
  2  unusable input or arguments; other inputs are verified all the same")]
pub(crate) struct Verify {
    /// .ll files, .ron specs, or `-`.
    #[arg(required = true)]
    pub(crate) input: Vec<PathBuf>,
    /// llvm, union or union-strict.
    #[arg(long, value_name = "RULES", default_value = "llvm")]
    pub(crate) rules: Rules,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FindingFormat,
}

/// Reports what LLVM accepts and is still wrong or suspicious.
///
/// `--list` names the lints with their levels, and `--explain CODE` prints a
/// lint's page; it knows the codes of `verify` too.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  text   each finding with the lines it is about, what comes of it, and what to do
  json   an array of findings; spans are in bytes from the start of the file
  sarif  SARIF 2.1.0, which editors and code hosts read

Examples:
  tbaa lint f.ll
  tbaa lint f.ll --allow TBAA104 --warn TBAA113
  tbaa lint --list
  tbaa lint --explain TBAA110

Exit status:
  0  nothing found
  1  something found
  2  unusable input or arguments; other inputs are looked at all the same")]
pub(crate) struct Lint {
    /// .ll files, .ron specs, or `-`.
    #[arg(required_unless_present_any = ["list", "explain"])]
    pub(crate) input: Vec<PathBuf>,
    /// Report a lint as an error.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) deny: Vec<tbaa::lint::Lint>,
    /// Report a lint as a warning.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) warn: Vec<tbaa::lint::Lint>,
    /// Do not report a lint.
    #[arg(long, value_name = "CODE", value_parser = lint_code)]
    pub(crate) allow: Vec<tbaa::lint::Lint>,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FindingFormat,
    /// List the lints.
    #[arg(long, conflicts_with_all = ["input", "explain"])]
    pub(crate) list: bool,
    /// Print the page of a code.
    #[arg(long, value_name = "CODE", conflicts_with = "input")]
    pub(crate) explain: Option<Code>,
}

fn lint_code(text: &str) -> Result<tbaa::lint::Lint, String> {
    match text.parse::<Code>() {
        Ok(Code::Lint(lint)) => Ok(lint),
        Ok(Code::Rule(_)) => Err("a code of `verify`, which are always on".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum FindingFormat {
    #[default]
    Text,
    Json,
    Sarif,
}

/// Prints how many nodes, tags, types and fields there are, how deep they go,
/// and how many loads and stores have a tag.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa stats f.ll
  tbaa stats f.ll --format json

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Stats {
    /// A .ll file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: StatsFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum StatsFormat {
    #[default]
    Text,
    Json,
}

/// Prints the struct types of modules, in classes of equal ones.
///
/// Names do not count, so that %struct.Point and %struct.Point.0 are in one
/// class if they have the same body; an opaque struct stands for its name
/// without the number. Each class is printed as its first type is defined, with
/// the size in bytes that the file's data layout gives it, and the names that it
/// has in each file.
#[derive(clap::Args)]
#[command(after_help = "\
Equalities:
  structural  the two types are made of structs that match one to one
  unfolding   the two types cannot be told apart by following elements and
              pointers: a list is equal to a node that points to a list

Examples:
  tbaa types f.ll
  tbaa types f.ll g.ll --equality unfolding

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Types {
    /// .ll files, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// When two types are equal.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) equality: EqualityArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TypesFormat,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum EqualityArg {
    #[default]
    Structural,
    Unfolding,
}

impl From<EqualityArg> for Equality {
    fn from(arg: EqualityArg) -> Equality {
        match arg {
            EqualityArg::Structural => Equality::Structural,
            EqualityArg::Unfolding => Equality::Unfolding,
        }
    }
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum TypesFormat {
    #[default]
    Text,
    Json,
}

/// Links the TBAA and the struct types of modules.
///
/// Equal nodes become one. Types of one name with different bodies are warned
/// of: LLVM's linker keeps both and says NoAlias of accesses that may be to one
/// object. What is printed as metadata has both too. A file's name identifies
/// its module.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  llvm     the merged struct types and metadata, which llvm-as accepts
  report   counts, and each name that has several bodies
  summary  JSON that `link` reads back: parts may be linked in any order

Examples:
  tbaa link f.ll g.ll --format report
  tbaa link f.ll --format summary > f.json
  tbaa link f.json g.ll | llvm-as

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Link {
    /// .ll files, .ron specs, .json summaries, or `-`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LinkFormat,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
pub(crate) enum LinkFormat {
    #[default]
    Llvm,
    Report,
    Summary,
}

/// Replaces tags by others that stock LLVM gets right.
///
/// LLVM follows one member of a union and ignores sizes. The tags printed here
/// are of another type system, on which it answers MayAlias wherever the rule
/// does, by default `union`, and on as few other pairs as can be. Of a .ll file
/// the whole module is printed, with `!tbaa`, `!tbaa.struct` and
/// `!llvm.errno.tbaa` replaced; of a spec the metadata. How many NoAlias pairs
/// LLVM keeps is said on standard error.
#[derive(clap::Args)]
#[command(after_help = "\
Formats:
  llvm   the module, or the metadata of a spec with the names of its tags
  table  a line for each source: its name, its new type, and why this one; then
         a line for each pair that is lost
  json   the same, with the scopes

Examples:
  tbaa lower f.ll | opt -O2 -S
  tbaa lower f.ll --scopes lost              what the tags lose, by !noalias
  tbaa lower ravi-declared.ron --format table
  tbaa lower ravi-declared.ron --open        for memory that clang's code shares

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Lower {
    /// A .ll file, a .ron spec, or `-`.
    pub(crate) input: PathBuf,
    /// The rule to be sound by: llvm, union or union-strict; by default union,
    /// or union-strict where a spec says so.
    #[arg(long, value_name = "RULES")]
    pub(crate) rules: Option<Rules>,
    /// Share the memory with what clang 22 makes of the declared types: its
    /// tags stay, and the others stand among them.
    #[arg(long, conflicts_with = "size_aware")]
    pub(crate) open: bool,
    /// The memory is tagged by nobody else under the same root: the default.
    #[arg(long, conflicts_with = "open")]
    pub(crate) closed: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: LowerFormat,
    /// Add `!alias.scope` and `!noalias`, in place of what the module has.
    #[arg(long, value_enum, value_name = "PAIRS")]
    pub(crate) scopes: Option<LowerScopes>,
    /// Print the size-aware format.
    #[arg(long)]
    pub(crate) size_aware: bool,
    /// What the root's name begins with.
    #[arg(long, value_name = "NAME")]
    pub(crate) lineage: Option<String>,
    /// The most types one below the other, 1 to 64.
    #[arg(long, value_name = "TYPES")]
    pub(crate) depth: Option<usize>,
    /// How long to search for the optimum.
    #[arg(long, value_name = "STEPS")]
    pub(crate) steps: Option<u64>,
}

#[derive(Clone, Copy, ValueEnum, Default)]
pub(crate) enum LowerFormat {
    #[default]
    Llvm,
    Table,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LowerScopes {
    /// Those that the tags lose.
    Lost,
    /// All.
    All,
}

/// Prints a module with its tags left off, all or some.
///
/// Left off are `!tbaa` and `!tbaa.struct`; every other byte stays as it is. An
/// access is an instruction with one of them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa strip f.ll                       no tags
  tbaa strip f.ll --keep 1              those of the first access
  tbaa strip f.ll --hash 0 --hash 11    those of three quarters of the accesses
  tbaa strip f.ll --drop '!12'          all but !12

Exit status:
  0  fine
  2  unusable input or arguments")]
pub(crate) struct Strip {
    /// A .ll file, or `-`.
    pub(crate) input: PathBuf,
    /// Keep the tags of the first N accesses, in file order.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with_all = ["hash", "drop"])]
    pub(crate) keep: usize,
    /// Keep those of the accesses whose hash ends in these binary digits. It is
    /// made of the function's name and the instruction's position in it.
    #[arg(long, value_name = "BITS", conflicts_with = "drop")]
    pub(crate) hash: Vec<Bits>,
    /// Keep all tags but this.
    #[arg(long, value_name = "TAG")]
    pub(crate) drop: Vec<String>,
}

/// The end of a hash, in binary.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    pub(crate) value: u64,
    pub(crate) len: u32,
}

impl std::str::FromStr for Bits {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected 1 to 32 binary digits, such as 0110";
        let digits =
            (1..=32).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'0' | b'1'));
        let value = u64::from_str_radix(text, 2).ok().filter(|_| digits).ok_or(expected)?;
        Ok(Bits { value, len: text.len() as u32 })
    }
}

/// Finds the tags that make a program go wrong.
///
/// The command is run on copies of the module in which some tags are left off.
/// The fewest accesses are looked for whose tags show the fault by themselves,
/// and the pairs that LLVM takes for different memory because of them are
/// printed: two accesses among 5,000 take at most 36 runs.
///
/// The name of the copy stands for `{}` in the command; without any, the copy is
/// its standard input. Its exit status says whether the fault shows.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status of the command:
  0           the fault is gone
  125 to 127  nothing can be said; the search ends
  any other   the fault shows; so it does when the command is killed, or
              reaches the time limit

Recipes: the fault shows where the output or the exit status of the program is
another than without tags
  run     opt -O2, then lli
  native  clang -O2, then the program
Arguments after `--` are the program's.

Examples:
  tbaa bisect f.ll -- sh -c 'opt -O2 {} | lli - | diff - expected.txt'
  tbaa bisect f.ll --recipe run
  tbaa bisect f.ll --recipe native --opt '-O3 -lm' --state f.state -- 100

Exit status:
  0  the tags are not to blame
  1  guilty tags were found
  2  unusable input or arguments, or a command that cannot be run")]
pub(crate) struct Bisect {
    /// A .ll file, or `-`.
    pub(crate) input: PathBuf,
    /// Compile and run the program instead of a command.
    #[arg(long, value_enum)]
    pub(crate) recipe: Option<Recipe>,
    /// What a recipe gives to the compiler.
    #[arg(
        long,
        value_name = "FLAGS",
        default_value = "-O2",
        allow_hyphen_values = true,
        requires = "recipe"
    )]
    pub(crate) opt: String,
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

/// Prints a completion script for a shell.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tbaa completions bash > ~/.local/share/bash-completion/completions/tbaa
  tbaa completions zsh > ~/.zfunc/_tbaa
  tbaa completions fish > ~/.config/fish/completions/tbaa.fish")]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
