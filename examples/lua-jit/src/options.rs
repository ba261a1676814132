//! The command line.

use crate::codegen::Reload;
use crate::tags::{Elements, Switch};

pub(crate) const USAGE: &str = "\
Compiles a Lua program with Ravi's annotations by LLVM 22, and runs it.

tbaa-lua-jit [OPTIONS] FILE [N]        runs a program; N is its `...`
tbaa-lua-jit --all [OPTIONS] [FILE...] runs programs under every switch; all of
                                       examples/lua-jit/programs without a FILE

  --tags SWITCH  what LLVM is told of memory accesses:
                 none, by-hand, clang, ravi, lowered, scopes, lowered-scopes
                 (the default)
  --elements own|c  whether rule `union` takes the elements of typed arrays for
                 scalars of their own (default), or for C's long long and double
  --reload each|calls|helpers  load the frame's base in each operation (default),
                 or only after calls that may move the stack, or after all
                 calls of the runtime
  --checked      check each access at run time; needs libtbaa_witness.so in
                 LD_PRELOAD (see docs/witness.md)
  --bits         print floats as the 16 hexadecimal digits of their bits
  --ir-before    print the IR on standard error, as it is before optimizing
  --ir           print the optimized IR on standard error
  --statistics   print loads left and times on standard error
  --runs COUNT   with --all: the shortest run of so many counts (default 5)

Exit status: 0 fine; 1 the program is wrong or failed; 2 wrong arguments.";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Help,
    Run,
    All,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) switch: Switch,
    pub(crate) elements: Elements,
    pub(crate) reload: Option<Reload>,
    pub(crate) checked: bool,
    pub(crate) bits: bool,
    pub(crate) ir_before: bool,
    pub(crate) ir: bool,
    pub(crate) statistics: bool,
    pub(crate) runs: usize,
    pub(crate) files: Vec<String>,
    pub(crate) argument: Option<i64>,
}

impl Options {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            command: Command::Run,
            switch: Switch::LoweredScopes,
            elements: Elements::Own,
            reload: None,
            checked: false,
            bits: false,
            ir_before: false,
            ir: false,
            statistics: false,
            runs: 5,
            files: Vec::new(),
            argument: None,
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--help" | "-h" => options.command = Command::Help,
                "--all" => options.command = Command::All,
                "--checked" => options.checked = true,
                "--bits" => options.bits = true,
                "--ir-before" => options.ir_before = true,
                "--ir" => options.ir = true,
                "--statistics" => options.statistics = true,
                "--tags" => {
                    let name = arguments.next().unwrap_or_default();
                    let found = Switch::ALL.into_iter().find(|switch| switch.name() == name);
                    let names = Switch::ALL.map(Switch::name).join(", ");
                    options.switch =
                        found.ok_or_else(|| format!("no tags `{name}`: there are {names}"))?;
                }
                "--elements" => {
                    options.elements = match arguments.next().as_deref() {
                        Some("own") => Elements::Own,
                        Some("c") => Elements::OfC,
                        _ => return Err("--elements is own or c".to_owned()),
                    };
                }
                "--reload" => {
                    options.reload = Some(match arguments.next().as_deref() {
                        Some("each") => Reload::EachOperation,
                        Some("calls") => Reload::AfterCalls,
                        Some("helpers") => Reload::AfterHelpers,
                        _ => return Err("--reload is each, calls or helpers".to_owned()),
                    });
                }
                "--runs" => {
                    let count = arguments.next().and_then(|count| count.parse().ok());
                    options.runs =
                        count.filter(|&count| count > 0).ok_or("--runs takes a count from 1 on")?;
                }
                _ if argument.starts_with("--") => return Err(format!("no option `{argument}`")),
                _ => options.files.push(argument),
            }
        }
        if options.command == Command::Run {
            match options.files.len() {
                1 => {}
                2 => {
                    let last = options.files.pop().unwrap_or_default();
                    let number = last.parse();
                    options.argument = Some(number.map_err(|_| format!("`{last}` is no integer"))?);
                }
                _ => return Err("name one program, and perhaps its argument".to_owned()),
            }
        }
        Ok(options)
    }
}
