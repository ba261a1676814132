//! What the command line accepts. The arguments of a command stand with it.

use clap::{Parser, ValueEnum};

use crate::commands::Command;

const STATUS: &str = "\
Exit status:
  0  fine
  1  the input is readable, and something was found in it (check, verify, lint,
     diff, bisect)
  2  unusable input or arguments";

/// Reads, dumps and queries type-based alias analysis metadata (`!tbaa`).
///
/// INPUT is one of: LLVM assembly (3.0 or later); bitcode (read with llvm-dis); C or C++
/// (compiled with clang, flags after `--` or from `-p`); a spec (.ron). `-` is standard
/// input.
///
/// A and B name access tags. In LLVM assembly they are: a metadata number such as `!8`
/// (or 8); the operands that `matrix` prints for a tag without a number; a place such as
/// vec.len, vec+8 (8 bytes into vec) or long; an access such as @f:2, the second in
/// function f, or @f:%x, the one whose result or pointer is %x; a line such as f.ll:7 of
/// the text or f.c:7 of the source (with -g), which stands for all its accesses. In a
/// spec they are a tag's name, or a path such as CallInfo.l.base.
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
