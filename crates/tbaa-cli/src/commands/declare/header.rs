//! Asks clang for the types of a C header.

use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use tbaa::declare::{DeclId, Declarations, Policy, Target};
use tbaa_ir::clang::{ClangAccesses, ClangRecords};

use super::{Declare, Loaded};
use crate::convert;
use crate::printable::{printable, printable_path};
use crate::report::{Context, Failure, Result, note, warn};
use crate::tools::{self, cannot_run, command_of};

/// Declares the header's structs and unions. Warns if some are left out.
pub(super) fn load(args: &Declare) -> Result<Loaded> {
    let input = printable_path(&args.input);
    let file = args.input.canonicalize().context(format_args!("cannot read {input}"))?;
    let include = format!("{C_ONLY}#include {:?}\n", file.display().to_string());
    let dump = ["-Xclang", "-fdump-record-layouts-canonical", "-fsyntax-only", "-Xclang"];
    let all = [&dump[..], &["-fdump-record-layouts-complete"]].concat();
    // This first run lays out records without the attributes that follow their members, so the
    // header's assertions about sizes may fail. Ignore errors: the second run reports real ones.
    let mut first = command(args);
    let all = output_of(args, first.arg("-ferror-limit=0").args(all).arg("-"), &include)?;
    let all = String::from_utf8_lossy(&all.stdout);
    let builtin = Declarations::new(Target::x86_64());
    let probes = ClangRecords::parse(&all).probes(&builtin).into_iter();
    let probes = probes.filter(|(name, _)| !IMPLICIT.contains(name));
    let probes = probes.map(|(name, line)| (name.to_owned(), line)).collect();
    let asked = [&dump[..], &["-fdump-record-layouts"]].concat();
    let (asked, hidden) = answer(args, &asked, &include, probes)?;
    let asked = String::from_utf8_lossy(&asked);
    let mut records = ClangRecords::parse(&asked);
    let Asked { target, name, enums, unions } = ask_more(args, &records, &builtin, &include)?;
    unions.iter().for_each(|name| records.set_union(name));
    let declared = |records: &ClangRecords<'_>| -> Result<_> {
        let mut types = Declarations::new(target.clone());
        for (name, integer) in &enums {
            types.enumeration(name, integer).map_err(Failure::unusable)?;
        }
        let skipped = records.declare(&mut types);
        let skipped = skipped.into_iter().map(|(name, why)| (name.to_owned(), why.to_string()));
        Ok((types, skipped.collect::<Vec<_>>()))
    };
    let (mut types, mut skipped) = declared(&records)?;
    let differing = differing(args, &types, &include)?;
    if !differing.is_empty() {
        differing.iter().for_each(|(name, _)| records.leave_out(name));
        (types, skipped) = declared(&records)?;
        skipped.splice(0..0, differing);
    }
    skipped.splice(0..0, hidden);
    warn(&skipped, |(name, why)| (None, format!("{name} is left out: {why}")));
    if types.records().next().is_none() {
        note(format!("{} defines no struct or union with a name", file.display()));
    }
    Ok(Loaded { types, target: name, policy: Policy::Clang, complete: skipped.is_empty() })
}

/// Three lines that refuse C++, whose types have other names.
const C_ONLY: &str =
    "#ifdef __cplusplus\n#error C++ is not read: declare its classes by hand\n#endif\n";

/// Structs that clang itself declares. C text cannot name them. They have no attributes.
const IMPLICIT: [&str; 3] = ["__va_list_tag", "__va_list", "__NSConstantString_tag"];

/// A record that is left out, and the reason.
type Refused = (String, String);

/// The facts that are missing in clang's dump of record layouts.
struct Asked {
    target: Target,
    name: String,
    /// The enums, each with an integer type of the same size.
    enums: Vec<(String, &'static str)>,
    /// Unions that are unnamed except for a typedef.
    unions: Vec<String>,
}

fn ask_more(
    args: &Declare,
    records: &ClangRecords<'_>,
    builtin: &Declarations,
    include: &str,
) -> Result<Asked> {
    let enums: Vec<&str> = records.enums().collect();
    let typedefs = records.typedefs(builtin);
    let unnamed: Vec<&str> = records.typedef_records().collect();
    // `__builtin_classify_type` gives 1 for integers and C enums, and 13 for unions.
    let is_class = |name, class| format!("__builtin_classify_type(*({name} *)0) == {class}");
    let sizes = enums.iter().map(|name| format!("sizeof(enum {name})"));
    let sizes = sizes
        .chain(typedefs.iter().map(|name| format!("{} ? sizeof({name}) : 0", is_class(*name, 1))));
    let all: Vec<String> = sizes.chain(unnamed.iter().map(|name| is_class(*name, 13))).collect();
    let source =
        format!("{include}unsigned long long tbaa_sizes[] = {{ 1, {} }};\n", all.join(", "));
    let mut module = command(args);
    let output = output_of(args, module.args(["-S", "-emit-llvm", "-o", "-", "-"]), &source)?;
    if !output.status.success() {
        return Err(rejected(args, &output));
    }
    let module = String::from_utf8_lossy(&output.stdout);
    let (target, name) = super::target(args, &module)?;
    let integers = [(1, "char"), (2, "short"), (4, "unsigned int"), (8, "uint64_t")];
    let integer = |size| Some(integers.into_iter().find(|known| known.0 == size)?.1);
    let mut answers = sizes_in(&module).into_iter().skip(1);
    let names = enums.into_iter().chain(typedefs).map(str::to_owned);
    let enums = names.zip(&mut answers).filter_map(|(name, size)| Some((name, integer(size)?)));
    let enums = enums.collect();
    let unions = unnamed.into_iter().zip(answers).filter(|&(_, is_union)| is_union == 1);
    let unions = unions.map(|(name, _)| name.to_owned()).collect();
    Ok(Asked { target, name, enums, unions })
}

/// Compiles accesses to the members of records. Returns the records for whose members clang and
/// `types` give different tags, and the records that clang rejects, with reasons.
fn differing(args: &Declare, types: &Declarations, include: &str) -> Result<Vec<Refused>> {
    let mut accesses = ClangAccesses::of(types);
    for record in types.records().filter(|&id| IMPLICIT.contains(&&*types.display(id))) {
        accesses.leave_out(record);
    }
    let flags = "-O1 -Xclang -disable-llvm-passes -fstrict-aliasing -S -emit-llvm -o -";
    let flags: Vec<&str> = flags.split(' ').collect();
    let lines = accesses.lines().map(|(id, line)| (types.display(id), line.to_owned())).collect();
    let (module, mut found) = answer(args, &flags, include, lines)?;
    let hidden = |id: &DeclId| found.iter().any(|(name, _)| *name == types.display(*id));
    types.records().filter(hidden).for_each(|record| accesses.leave_out(record));
    let module = tbaa_ir::read(&module).context("clang's own output")?;
    let functions: Vec<Vec<u8>> = module.functions().map(<[u8]>::to_vec).collect();
    let tags = module.instructions().iter().map(|it| (it.function as usize, it.tag));
    let tags: Vec<_> = tags.filter_map(|(at, tag)| Some((functions.get(at)?, tag))).collect();
    let mut graph = module.into_graph();
    let differences =
        accesses.differences(&mut types.clone().into_tagged(Policy::Clang), &mut graph, tags);
    let differences = differences.map_err(Failure::unusable)?;
    found.extend(
        differences
            .into_iter()
            .map(|difference| (types.display(difference.record), difference.reason)),
    );
    Ok(found)
}

/// Runs clang on the header and `lines`: pairs of a record's name and C text. Removes the lines of
/// each record that clang rejects. Returns the last output, and the removed records with reasons.
fn answer(
    args: &Declare,
    flags: &[&str],
    include: &str,
    mut lines: Vec<(String, String)>,
) -> Result<(Vec<u8>, Vec<Refused>)> {
    let mut refused: Vec<Refused> = Vec::new();
    loop {
        let mut clang = command(args);
        clang.args(["-ferror-limit=0", "-fno-color-diagnostics"]).args(flags).arg("-");
        let text: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        let output = output_of(args, &mut clang, &format!("{include}{text}"))?;
        if output.status.success() {
            return Ok((output.stdout, refused));
        }
        let before = refused.len();
        for said in String::from_utf8_lossy(&output.stderr).lines() {
            let Some((place, why)) = said.split_once(": error: ") else { continue };
            let number = place.strip_prefix("<stdin>:").and_then(|at| at.split(':').next());
            // Line 5 is `lines[0]`: the three lines of `C_ONLY` and the `#include` line come first.
            let number = number.and_then(|number| number.parse::<usize>().ok()?.checked_sub(5));
            let Some((name, _)) = number.and_then(|number| lines.get(number)) else { continue };
            if refused.iter().all(|(known, _)| known != name) {
                refused.push((name.clone(), format!("clang cannot be asked about it: {why}")));
            }
        }
        if refused.len() == before {
            return Err(rejected(args, &output));
        }
        let new = &refused[before..];
        lines.retain(|(name, _)| new.iter().all(|(refused, _)| refused != name));
    }
}

fn clang(args: &Declare) -> OsString {
    args.clang.clone().unwrap_or_else(tools::clang)
}

fn command(args: &Declare) -> Command {
    let mut command = command_of(&clang(args));
    command.args(["-w", "-x", "c"]);
    if let Some(triple) = args.target.as_deref().filter(|target| target.contains('-')) {
        command.arg(format!("--target={triple}"));
    }
    command.args(&args.arguments);
    command
}

fn output_of(args: &Declare, command: &mut Command, input: &str) -> Result<Output> {
    let output = convert::output_of(command.stderr(Stdio::piped()), Some(input.as_bytes()));
    let why = |error| cannot_run(clang(args).display(), &error, "name a clang with --clang");
    output.map_err(|error| Failure::unusable(why(error)))
}

fn rejected(args: &Declare, output: &Output) -> Failure {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = printable(said.lines().take(5).collect::<Vec<_>>().join("; "));
    Failure::unusable(format!("{} rejects the input: {said}", clang(args).display()))
}

fn sizes_in(module: &str) -> Vec<u64> {
    let line = module.lines().find(|line| line.starts_with("@tbaa_sizes"));
    let list = line.and_then(|line| Some(line.split_once("] [")?.1.split_once(']')?.0));
    let number = |item: &str| item.trim().strip_prefix("i64 ")?.parse().ok();
    list.map(|list| list.split(',').filter_map(number).collect()).unwrap_or_default()
}
