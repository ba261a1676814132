//! `tbaa instrument`: adds run-time checks of TBAA tags to a module.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use tbaa_instrument::{Form, Instrumented, instrument};

use crate::convert::FlagsArg;
use crate::input::Input;
use crate::output::counted;
use crate::render::Source;
use crate::report::{Failure, Result, note, write_output};

/// Puts a check before each tagged access of a module.
///
/// The program, linked with `libtbaa_witness`, then reports each two accesses that share bytes although their
/// tags say that they cannot. Give it C or C++, or what clang's `-O1 -Xclang -disable-llvm-passes` prints:
/// optimised code has fewer accesses. What cannot be checked is listed on standard error.
#[derive(clap::Args)]
#[command(after_help = include_str!("help/instrument.txt"))]
pub(crate) struct Instrument {
    /// A .ll or .bc file with opaque pointers (LLVM 15 or later), C or C++, or `-`.
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) flags: FlagsArg,
    /// The file to write the module to; by default standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write what was not checked to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

pub(super) fn run(args: &Instrument, out: &mut dyn Write) -> Result {
    let input = Input::open(args.flags.of(&args.input).as_written())?;
    let module = input.module()?;
    let Instrumented { text, sites, skipped, .. } =
        instrument(module, Form::Assembly).map_err(|error| input.wrong(&error))?;
    let source = Source::new(input.file(), input.text());
    let rows = skipped.iter().map(|skipped| {
        let (function, line) = (&skipped.function, source.position(skipped.offset).0);
        let reason = skipped.reason.to_string();
        note(format!("{}:{line}: not checked, in @{function}: {reason}", input.file()));
        json!({ "function": function, "line": line, "reason": reason })
    });
    let listing = json!({ "sites": sites, "skipped": rows.collect::<Vec<_>>() });
    let mut inputs = vec![args.input.clone()];
    if let Some(file) = &args.json {
        let mut json = serde_json::to_vec_pretty(&listing).map_err(Failure::unusable)?;
        json.push(b'\n');
        write_output(file, &inputs, &json)?;
        inputs.push(file.clone());
    }
    match &args.output {
        Some(file) => {
            write_output(file, &inputs, &text)?;
            writeln!(out, "{} checked", counted(sites, "access"))?;
        }
        None => out.write_all(&text)?,
    }
    Ok(())
}
