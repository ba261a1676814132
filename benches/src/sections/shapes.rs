//! Benchmarks on synthetic graphs: by depth, number of fields and number of tags.

use tbaa::{Format, Graph};

use super::Run;
use super::programs::name_of;
use crate::queries::{Subject, race_many};
use crate::report::{figure, grouped, table, table_of, with_unit};
use crate::sample::Race;
use crate::scaling::in_llvm;
use crate::synthetic::{Program, nested};

const FORMATS: [Format; 2] = [Format::Old, Format::New];

/// Measures depths 1 and 64, and 2 and 4,096 fields, always with the same number of tags. A quick
/// run has at most depth 8 and 64 fields.
pub(super) fn measure(run: &mut Run<'_>) -> Result<(), String> {
    let tags = run.pick(4_096, 64);
    let depths: &[usize] = run.pick(&[1, 64], &[1, 8]);
    let fields: &[usize] = run.pick(&[2, 4_096], &[2, 64]);
    for (name, sizes) in [("depth", depths), ("fields", fields)] {
        let mut races = Vec::new();
        for format in FORMATS {
            let make = |&size: &usize| match name {
                "depth" => nested(format, size, 16, tags),
                _ => nested(format, 1, size, tags),
            };
            let graphs: Vec<_> = sizes.iter().map(make).collect();
            races.push(race(run, &format!("{name}, {}", name_of(format)), &graphs));
        }
        tabulate(run, name, sizes, &races);
    }
    Ok(())
}

fn race(run: &mut Run<'_>, id: &str, graphs: &[Graph]) -> Race {
    let llvm = run.llvm;
    let subject = |graph| Subject::new(graph, graph.tags().collect(), in_llvm(llvm, graph));
    let mut subjects: Vec<_> = graphs.iter().map(subject).collect();
    race_many(&mut run.sampler, id, &mut subjects)
}

fn tabulate(run: &mut Run<'_>, name: &str, sizes: &[usize], races: &[Race]) {
    let row = |(at, &size): (usize, &usize)| {
        let (ours, llvm) = (format!("tbaa {at}"), format!("LLVM {at}"));
        let mut row = vec![grouped(size as f64)];
        for race in races {
            row.push(figure(race.ns(&ours)));
            row.push(with_unit(race.ratio(&ours, "tbaa 0"), "x"));
            row.push(figure(race.ns(&llvm)));
            row.push(with_unit(race.ratio(&llvm, &ours), "x"));
        }
        row
    };
    let header = [
        name, "old: tbaa, ns", "of the first", "LLVM, ns", "LLVM / tbaa", "new: tbaa, ns",
        "of the first", "LLVM, ns", "LLVM / tbaa",
    ];
    let rows: Vec<_> = sizes.iter().enumerate().map(row).collect();
    run.report.section(&format!("Queries by {name}"), &table(&header, &rows));
    let flat = races
        .iter()
        .flat_map(|race| (1..sizes.len()).map(|at| race.ratio(&format!("tbaa {at}"), "tbaa 0")));
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    let work = format!("{name} {} against {first}", grouped(last as f64));
    run.report.at_most(&work, "flat: within 1.25x", flat, "x", 1.25);
}

/// Measures synthetic programs with 1,000 and 1,000,000 tags (a quick run: 10 and 100).
pub(super) fn sizes(run: &mut Run<'_>) -> Result<(), String> {
    let counts: &[usize] = run.pick(&[1_000, 1_000_000], &[10, 100]);
    let mut all = Vec::new();
    let (mut limits, mut unions) = (Vec::new(), Vec::new());
    for &tags in counts {
        let structs = tags.div_ceil(10);
        let programs = [(Format::Old, false), (Format::New, false), (Format::New, true)];
        for (format, unions_too) in programs {
            let graph = Program { format, structs, tags, unions: unions_too }.graph();
            let llvm = in_llvm(run.llvm.filter(|_| !unions_too), &graph);
            let what = if unions_too { "new, unions" } else { name_of(format) };
            let mut subject = Subject::new(&graph, graph.tags().collect(), llvm);
            let race =
                subject.race(&mut run.sampler, &format!("{} tags, {what}", grouped(tags as f64)));
            if tags == 1_000_000 && !unions_too {
                limits.push(race.ratio("tbaa", "16 bytes"));
            }
            unions.extend(["union", "union-strict"].map(|rule| race.ratio(rule, "tbaa")));
            all.push((subject.tags.len(), what, race));
        }
    }
    type Row = (usize, &'static str, Race);
    let ns = |name: &'static str| move |(.., race): &Row| figure(race.ns(name));
    let ratio = |above: &'static str, below: &'static str| {
        move |(.., race): &Row| with_unit(race.ratio(above, below), "x")
    };
    let rows = table_of(
        &all,
        &[
            ("tags", &|(tags, ..)| grouped(*tags as f64)),
            ("format", &|(_, what, _)| (*what).to_owned()),
            ("two 16-byte records, ns", &ns("16 bytes")),
            ("tbaa, ns", &ns("tbaa")),
            ("mask, ns", &ns("mask")),
            ("tbaa / 16-byte records", &ratio("tbaa", "16 bytes")),
            ("LLVM, ns", &ns("LLVM")),
            ("LLVM / tbaa", &ratio("LLVM", "tbaa")),
            ("union / llvm", &ratio("union", "tbaa")),
        ],
    );
    run.report.section("Queries by the number of tags", &rows);
    let work = "one `may_alias` over 1,000,000 tags, 100,000 struct types";
    run.report.at_most(work, "1.5x of two random reads of a 16 MB table", limits, "x", 1.5);
    let work = "rules `union` and `union-strict`, synthetic programs";
    run.report.at_most(work, "1.5x of rule `llvm`", unions, "x", 1.5);
    Ok(())
}
