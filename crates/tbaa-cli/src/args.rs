//! The command line. A command's arguments are defined in the command's own module.

use clap::{CommandFactory, Parser};

use crate::commands::Command;

const NAMES: &str = include_str!("commands/help/names-of-tbaa.txt");

/// The listed commands, by title. Hidden commands, `completions` and `man` are not listed.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Why is my program slow?", &["blocks", "worth", "diff"]),
    ("What is wrong?", &["run", "check", "bisect", "cc", "c++", "instrument"]),
    ("May these two alias?", &["explain", "matrix", "masks"]),
    ("What is in this module?", &["report", "stats", "dump", "graph", "types"]),
    ("Make and change metadata", &["declare", "tag", "lower", "link", "strip", "plugin"]),
];

const STATUS: &str = include_str!("commands/help/status-of-tbaa.txt");

/// Reads, dumps and queries type-based alias analysis metadata (`!tbaa`).
///
/// INPUT is one of: LLVM assembly (3.0 or later); bitcode (read with llvm-dis); C or C++ (compiled
/// with clang, flags after `--` or from `-p`); a spec (.ron: types, tags). `-` is standard input.
#[derive(Parser)]
#[command(name = "tbaa", version, arg_required_else_help = true, after_help = STATUS)]
#[command(after_long_help = format!("{NAMES}\n{STATUS}"))]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to colour messages; `NO_COLOR` is respected.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: clap::ColorChoice,
}

impl Args {
    /// Returns the command line of the program, with the commands listed by group.
    pub(crate) fn grouped() -> clap::Command {
        let program = Args::command();
        let mut list = String::new();
        for (title, names) in GROUPS {
            list += &format!("{title}\n");
            for name in names {
                let about = program.find_subcommand(name).and_then(clap::Command::get_about);
                list += &format!("  {name:<12}{}\n", about.cloned().unwrap_or_default());
            }
            list.push('\n');
        }
        program.help_template(format!(
            "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\
             Options:\n{{options}}{{after-help}}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, CommandFactory, GROUPS};

    #[test]
    fn each_command_is_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let program = Args::command();
        for command in program.get_subcommands() {
            let name = command.get_name();
            let count = listed.iter().filter(|listed| **listed == name).count();
            let is_listed = !command.is_hide_set() && !["completions", "man"].contains(&name);
            assert_eq!(count, usize::from(is_listed), "{name}");
        }
    }
}
