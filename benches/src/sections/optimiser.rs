//! Measures how much longer LLVM's optimiser takes with tags, alias scopes or alias classes. A
//! class is a set of tags with the same answers.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tbaa::Format;
use tbaa_tests::Rng;
use tbaa_tests::process::{run as output, text_of};

use super::Run;
use crate::programs::{of, programs};
use crate::report::{figure, grouped, table, with_unit};
use crate::sample::{median, time};

/// The kinds of metadata, each with the flag of `tbaa lower` that makes it; clang makes the first.
const FORMS: [(&str, Option<&str>); 4] = [
    ("clang's tags", None),
    ("lowered", Some("--depth=64")),
    ("scopes", Some("--scopes")),
    ("classes", Some("--classes")),
];

/// Scopes are measured up to this number of classes: with more, `-O2` of `SQLite` takes minutes.
const MOST_SCOPES: usize = 512;

pub(super) fn measure(run: &mut Run<'_>) -> Result<(), String> {
    if run.llvm.is_none() {
        return Ok(());
    }
    let command = command()?;
    let plugin = text_of(Command::new(&command).arg("plugin"))?;
    let folder = run.cache.join("optimiser");
    fs::create_dir_all(&folder).map_err(of(&folder))?;
    let mut sources = Vec::new();
    let accesses: &[usize] = run.pick(&[100, 1_000, 10_000], &[20]);
    for &structs in run.pick(&[4, 64][..], &[4]) {
        for &accesses in accesses {
            let file = folder.join("generated.c");
            fs::write(&file, generated(structs, accesses)).map_err(of(&file))?;
            let flags = ["-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o-"];
            let text = output(Command::new("clang-22").args(flags).arg(&file))?;
            sources.push((format!("{} accesses, generated", grouped(accesses as f64)), text));
        }
    }
    for program in programs(run.quick).iter().filter(|program| !program.name.contains("(part)")) {
        sources.push((program.name.clone(), program.text(Format::Old, &run.cache)?));
    }
    let (mut rows, mut real) = (Vec::new(), Vec::new());
    for (what, text) in sources {
        let tagged = folder.join("tagged.ll");
        // The pass `sroa` replaces the stack slots of unoptimised code by SSA values.
        let text = String::from_utf8_lossy(&text).into_owned();
        fs::write(&tagged, text).map_err(of(&tagged))?;
        output(opt("sroa").arg("-S").arg(&tagged).arg("-o").arg(&tagged))?;
        let text = fs::read_to_string(&tagged).map_err(of(&tagged))?;
        let bare = folder.join("bare.ll");
        fs::write(&bare, without_tags(&text)).map_err(of(&bare))?;
        let module = tbaa_ir::read(text.as_bytes()).map_err(|error| format!("{what}: {error}"))?;
        let classes = tbaa::Oracle::new(module.graph(), tbaa::AliasRule::Union)
            .classes(&module.attached_tags())
            .len();
        let mut contenders = vec![(bare, "")];
        for (name, flag) in FORMS {
            let file = folder.join(format!("{name}.ll"));
            match flag {
                None => drop(fs::copy(&tagged, &file).map_err(of(&file))?),
                Some("--scopes") if classes > MOST_SCOPES => continue,
                Some(flag) => {
                    let text = output(Command::new(&command).args(["lower", flag]).arg(&tagged))?;
                    fs::write(&file, text).map_err(of(&file))?;
                }
            }
            contenders.push((file, if name == "classes" { plugin.trim() } else { "" }));
        }
        let mut samples = vec![Vec::new(); contenders.len()];
        let rounds = if text.len() < 1 << 20 { run.pick(11, 1) } else { 3 };
        for _ in 0..rounds {
            for ((file, plugin), times) in contenders.iter().zip(&mut samples) {
                let [all, reading] =
                    ["default<O2>", "verify"].map(|passes| optimise(passes, file, plugin));
                times.push((all?.as_secs_f64() - reading?.as_secs_f64()).max(1e-6) * 1e3);
            }
        }
        let ratio = |times: &Vec<f64>| {
            median(times.iter().zip(&samples[0]).map(|(form, bare)| form / bare).collect())
        };
        let mut ratios: Vec<_> = samples.iter().skip(1).map(ratio).collect();
        if ratios.len() < FORMS.len() {
            ratios.insert(2, None);
        }
        if !what.contains("generated") {
            real.extend(&ratios);
        }
        let mut row = vec![what, grouped(classes as f64), figure(median(samples[0].clone()))];
        row.extend(ratios.iter().map(|&ratio| with_unit(ratio, "x")));
        rows.push(row);
    }
    let forms = FORMS.map(|(name, _)| name);
    let header = [&["function or module", "classes", "no tags, ms"], &forms[..]].concat();
    run.report.section("LLVM's optimiser", &table(&header, &rows));
    let work = "LLVM's -O2 with tags, scopes or classes, real programs";
    run.report.at_most(work, "1.1x of none", real, "x", 1.1);
    Ok(())
}

/// Returns the path of the command `tbaa` beside this program. Builds it if it is not there.
fn command() -> Result<PathBuf, String> {
    let bench = std::env::current_exe().map_err(|error| error.to_string())?;
    let command = bench.with_file_name("tbaa");
    if !command.exists() {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--quiet", "--package", "tbaa-cli"]);
        let is_release = bench.parent().is_some_and(|folder| folder.ends_with("release"));
        output(cargo.args(is_release.then_some("--release")))?;
    }
    Ok(command)
}

fn opt(passes: &str) -> Command {
    let mut opt = Command::new("opt-22");
    opt.arg(format!("-passes={passes}"));
    opt
}

/// Runs passes on a module. The returned time includes starting `opt` and reading the file.
fn optimise(passes: &str, file: &Path, plugin: &str) -> Result<Duration, String> {
    let mut opt = opt(passes);
    if !plugin.is_empty() {
        opt.arg(format!("-load-pass-plugin={plugin}"));
    }
    opt.arg("-disable-output").arg(file);
    let (took, result) = time(|| output(&mut opt));
    result.map(|_| took)
}

fn without_tags(text: &str) -> String {
    let cut = |line| match str::split_once(line, ", !tbaa ") {
        Some((access, tag)) => [access, tag.trim_start_matches(|c: char| c != ',')].concat() + "\n",
        None => line.to_owned() + "\n",
    };
    text.lines().map(cut).collect()
}

/// Returns a C function with about `accesses` accesses to the members of `structs` structs. Four in
/// five accesses are in branches, and one member of each struct is a union.
fn generated(structs: usize, accesses: usize) -> String {
    let (mut out, mut rng) = (String::new(), Rng(accesses as u64));
    for at in 0..structs {
        let union = "union { long u; void *p; double f; } c";
        let _ = writeln!(out, "struct S{at} {{ int a; double b; {union}; short d; }};");
    }
    let parameters: Vec<_> = (0..structs).map(|at| format!("struct S{at} *p{at}")).collect();
    let _ = writeln!(out, "int f({}) {{ int r = 0;", parameters.join(", "));
    let mut place = || format!("p{}->{}", rng.below(structs), rng.pick(&["a", "b", "c.u", "d"]));
    for _ in 0..accesses / 5 {
        let [condition, a, b, c] = [(); 4].map(|()| place());
        let _ = writeln!(out, "if ({condition}) {{ {a} += {b}; }} else {{ r += {c}; }}");
    }
    out + "return r; }\n"
}
