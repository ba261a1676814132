//! Benchmarks of lowering, which makes tags for rule `llvm` from tags for rule `union`.

use tbaa::declare::{Declarations, Record, Target};
use tbaa::{AliasRule, Format, Graph, Oracle, TagId};
use tbaa_lower::emit::{Jit, JitOptions, TagForm};
use tbaa_lower::{Lowering, Options};

use tbaa_tests::programs::runtime;

use super::Run;
use crate::heap::peak;
use crate::programs::programs;
use crate::report::{figure, grouped, table, with_unit};
use crate::sample::{median, time};

/// The cost to lower all tags at once, and to add the last 32 tags one by one. `classes` is the
/// number of sets of tags with the same answers.
struct Cost {
    classes: usize,
    first_ms: f64,
    /// The peak of the heap in bytes, without the graph and the oracle.
    peak: f64,
    /// The median time to add one of the last 32 tags, in microseconds.
    newcomer_us: Option<f64>,
    /// The fraction of `NoAlias` answers of rule `union` that LLVM gives after lowering.
    kept: f64,
}

pub(super) fn measure(run: &mut Run<'_>) -> Result<(), String> {
    let mut rows = Vec::new();
    let mut row = |what: String, tags: &[TagId], cost: &Cost| {
        rows.push(vec![
            what,
            grouped(tags.len() as f64),
            grouped(cost.classes as f64),
            figure(cost.first_ms),
            figure(cost.peak / 1e6),
            figure(cost.newcomer_us),
            format!("{:.4}", cost.kept),
        ]);
    };
    let mut many = None;
    for structs in run.pick(&[1_000, 3_200][..], &[10]) {
        let (graph, tags) = runtime(*structs);
        let cost = lower(&graph, &tags, run.pick(3, 1))?;
        row(format!("{} records, synthetic", grouped(*structs as f64)), &tags, &cost);
        many = Some(cost);
    }
    if run.llvm.is_some() && !run.quick {
        for program in programs(false).iter().filter(|program| !program.name.starts_with("RocksDB"))
        {
            let what = format!("{}, new", program.name);
            let text = program.text(Format::New, &run.cache)?;
            let module = tbaa_ir::read(&text).map_err(|error| format!("{what}: {error}"))?;
            let mut tags = module.attached_tags();
            if tags.is_empty() {
                // The text has no functions, so no instruction has a tag.
                tags = module.graph().tags().collect();
            }
            tags.sort_unstable();
            tags.dedup();
            let cost = lower(module.graph(), &tags, 3)?;
            row(what, &tags, &cost);
        }
    }
    let header =
        ["tags of", "tags", "classes", "lowered, ms", "peak, MB", "a newcomer, us", "kept"];
    run.report.section("Lowering", &table(&header, &rows));
    let shapes: &[usize] = run.pick(&[1_000, 4_000, 16_000], &[3]);
    let mut header = vec!["what LLVM gets".to_owned()];
    header.extend(shapes.iter().map(|&shapes| format!("{} shapes", grouped(shapes as f64))));
    let mut rows = Vec::new();
    for (what, form) in [("lowered tags", TagForm::Lowered), ("classes", TagForm::Classes)] {
        let costs = new_places(form, shapes)?;
        let mut row = vec![what.to_owned()];
        row.extend(costs.into_iter().map(figure));
        rows.push(row);
    }
    run.report.section(
        "A new place of a JIT",
        &table(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows),
    );
    let many = many.filter(|cost| cost.classes >= 10_000);
    let seconds = many.as_ref().map(|cost| cost.first_ms / 1e3);
    run.report.target("lower 10,000 classes", "1 s", seconds, with_unit(seconds, " s"), |worst| {
        worst <= 1.0
    });
    Ok(())
}

/// Measures the lowering of `tags`. `first_ms` and `peak` are medians of `runs` runs.
fn lower(graph: &Graph, tags: &[TagId], runs: usize) -> Result<Cost, String> {
    let oracle = Oracle::new(graph, AliasRule::Union);
    let classes = oracle.classes(tags).len();
    let failed = |error: tbaa_lower::LowerError| error.to_string();
    let (mut firsts, mut peaks, mut loss) = (Vec::new(), Vec::new(), None);
    for _ in 0..runs {
        let mut lowering = Lowering::new(Options::new().lineage("bench"));
        let (bytes, (elapsed, result)) = peak(|| time(|| lowering.lower(&oracle, tags)));
        result.map_err(failed)?;
        firsts.push(elapsed.as_secs_f64() * 1e3);
        peaks.push(bytes);
        loss = Some(lowering.lost());
    }
    let (before, last) = tags.split_at(tags.len().saturating_sub(32));
    let mut times = Vec::new();
    if !before.is_empty() {
        let mut lowering = Lowering::new(Options::new().lineage("bench"));
        lowering.lower(&oracle, before).map_err(failed)?;
        for &tag in last {
            let (elapsed, result) = time(|| lowering.lower(&oracle, [tag]));
            result.map_err(failed)?;
            times.push(elapsed.as_secs_f64() * 1e6);
        }
    }
    let loss = loss.expect("a run");
    Ok(Cost {
        classes,
        first_ms: median(firsts).unwrap_or(0.0),
        peak: median(peaks).unwrap_or(0.0),
        newcomer_us: median(times),
        kept: loss.kept(),
    })
}

/// Returns, for each number of record types in `shapes`, the mean time in microseconds to look up a
/// new path to a member. The mean is over the last quarter of the paths of that many types.
fn new_places(form: TagForm, shapes: &[usize]) -> Result<Vec<f64>, String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let options = JitOptions::new().lineage("bench").form(form);
    let types = Declarations::new(Target::x86_64());
    let mut jit = Jit::with_options(types, options).map_err(|error| failed(&error))?;
    let (mut costs, mut times) = (Vec::new(), Vec::new());
    for shape in 1..=shapes.last().copied().unwrap_or_default() {
        let name = format!("Shape{shape}");
        let value = Record::union("").field("object", "void *").field("number", "double");
        let record = Record::structure(&*name).field("next", format!("{name} *"));
        let record = record.field("value", value).field("kind", "short").field("count", "int");
        jit.define(record).map_err(|error| failed(&error))?;
        for member in ["next", "value.number", "kind", "count"] {
            let (elapsed, place) = time(|| jit.place(&format!("{name}.{member}")));
            place.map_err(|error| failed(&error))?;
            times.push(elapsed.as_secs_f64() * 1e6);
        }
        if shapes.contains(&shape) {
            let last = &times[times.len() * 3 / 4..];
            costs.push(last.iter().sum::<f64>() / last.len() as f64);
        }
    }
    Ok(costs)
}
