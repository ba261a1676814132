//! Benchmarks of growing graphs, of memory, and of adversarial graphs.

use std::time::Duration;

use tbaa::{AliasRule, Format};

use super::Run;
use super::programs::name_of;
use crate::growth::{Cost as Growth, cost};
use crate::report::{figure, grouped, table_of, with_unit};
use crate::scaling::{self, Cost, in_llvm};
use crate::synthetic::{Adversary, Program};

pub(super) fn growing(run: &mut Run<'_>) -> Result<(), String> {
    let budget = Duration::from_millis(run.pick(300, 2));
    let counts: &[usize] = run.pick(&[1_000, 1_000_000], &[100, 200]);
    let fields: &[usize] = run.pick(&[2, 8, 512], &[2, 8]);
    let measure = |run: &Run<'_>, tags: usize, fields: usize| {
        let make = || {
            Program { format: Format::Old, structs: tags.div_ceil(10), tags, unions: false }.graph()
        };
        let mut llvm = in_llvm(run.llvm, &make());
        (tags, fields, cost(make, llvm.as_mut(), fields, budget))
    };
    let by_size: Vec<_> = counts.iter().map(|&tags| measure(run, tags, 8)).collect();
    let by_fields: Vec<_> = fields.iter().map(|&fields| measure(run, counts[0], fields)).collect();
    let all = [&by_size[..], &by_fields[..]].concat();
    let ratio = |cost: &Growth| cost.llvm.map(|llvm| llvm / cost.oracle);
    let rows = table_of(
        &all,
        &[
            ("tags before", &|&(tags, ..)| grouped(tags as f64)),
            ("fields", &|&(_, fields, _)| grouped(fields as f64)),
            ("graph, ns", &|(.., cost)| figure(cost.graph)),
            ("graph and query, ns", &|(.., cost)| figure(cost.oracle)),
            ("LLVM, ns", &|(.., cost)| figure(cost.llvm)),
            ("LLVM / tbaa", &|(.., cost)| with_unit(ratio(cost), "x")),
        ],
    );
    run.report.section("Growing", &rows);
    let costs = || all.iter().map(|(.., cost)| cost);
    run.report.summary(
        "add a type and a tag, and ask; LLVM does not ask",
        " ns",
        costs().map(|cost| Some(cost.oracle)),
        costs().map(|cost| cost.llvm),
    );
    let ratios = costs().map(ratio);
    let work = "add a type and a tag, and ask";
    run.report.at_least(work, "1.5 times LLVM, which does not ask", ratios, "x", 1.5);
    let last = |costs: &[(usize, usize, Growth)]| {
        costs.last().zip(costs.first()).map(|(last, first)| last.2.oracle / first.2.oracle)
    };
    run.report.target(
        "add a type and a tag while querying",
        "no more in a graph of 1,000 times the tags: within 4x",
        last(&by_size),
        with_unit(last(&by_size), "x"),
        |worst| worst <= 4.0,
    );
    let (few, many) = (fields[0], fields[fields.len() - 1]);
    run.report.target(
        "add a type and a tag while querying",
        "proportional to its own fields",
        last(&by_fields),
        format!("{} for {}x the fields", with_unit(last(&by_fields), "x"), many / few),
        |worst| worst <= (many / few) as f64,
    );
    Ok(())
}

pub(super) fn memory(run: &mut Run<'_>) -> Result<(), String> {
    // Tables double when they are full, so one count is just above a power of two, one just below.
    let counts: &[usize] = run.pick(&[33_000, 65_500], &[1_000]);
    let mut all = Vec::new();
    for format in [Format::Old, Format::New] {
        for &structs in counts {
            let ours = scaling::bytes(format, structs);
            let llvm = run.llvm.map(|llvm| scaling::llvm_bytes(llvm, format, structs));
            all.push((structs, format, ours, llvm));
        }
    }
    let rows = table_of(
        &all,
        &[
            ("structs", &|&(structs, ..)| grouped(structs as f64)),
            ("format", &|&(_, format, ..)| name_of(format).to_owned()),
            ("tag: graph", &|(_, _, ours, _)| figure(ours.tag_in_graph)),
            ("oracle", &|(_, _, ours, _)| figure(ours.tag_in_oracle)),
            ("LLVM", &|(.., llvm)| figure(llvm.map(|llvm| llvm.tag_in_graph))),
            ("field: graph", &|(_, _, ours, _)| figure(ours.field)),
            ("LLVM", &|(.., llvm)| figure(llvm.map(|llvm| llvm.field))),
            ("type: graph", &|(_, _, ours, _)| figure(ours.ty)),
            ("LLVM", &|(.., llvm)| figure(llvm.map(|llvm| llvm.ty))),
        ],
    );
    run.report.section("Memory", &rows);
    let tags = all.iter().map(|(_, _, ours, _)| Some(ours.tag_in_graph + ours.tag_in_oracle));
    let llvm_tags = all.iter().map(|(.., llvm)| llvm.map(|llvm| llvm.tag_in_graph));
    let fields = all.iter().map(|(_, _, ours, _)| Some(ours.field));
    let work = "memory of a tag, graph and oracle; LLVM's node";
    run.report.summary(work, " bytes", tags.clone(), llvm_tags);
    let work = "memory of a tag, graph and oracle, synthetic";
    run.report.at_most(work, "64 bytes", tags, " bytes", 64.0);
    run.report.at_most("memory of a field", "24 bytes", fields, " bytes", 24.0);
    Ok(())
}

/// If building a graph takes more milliseconds than this, no larger graph of its kind is measured.
const PATIENCE_MS: f64 = 2_000.0;

pub(super) fn adversaries(run: &mut Run<'_>) -> Result<(), String> {
    let sizes = run.pick([1_600, 6_400, 25_600, 102_400], [4, 16, 64, 256]);
    let mut all = Vec::new();
    let (mut built, mut held, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for (adversary, name) in Adversary::ALL {
        for format in [Format::Old, Format::New] {
            let costs = [AliasRule::Llvm, AliasRule::Union].map(|rules| {
                let mut before: Option<Cost> = None;
                for n in sizes {
                    if before.is_some_and(|cost| cost.build_ms() > PATIENCE_MS) {
                        break;
                    }
                    let cost = scaling::cost(adversary, format, rules, n);
                    if let Some(before) = before {
                        built.push(Some(cost.build_ms() / before.build_ms()));
                        held.push(Some(cost.bytes / before.bytes));
                        asked.push(Some(cost.query_ns / before.query_ns));
                    }
                    before = Some(cost);
                }
                before.expect("the smallest graph is measured")
            });
            all.push((name, format, costs));
        }
    }
    let bytes = |cost: &Cost| grouped(cost.bytes / cost.n as f64);
    let newer: Vec<_> = all.iter().skip(1).step_by(2).collect();
    let rows = table_of(
        &newer,
        &[
            ("graph", &|(name, ..)| (*name).to_owned()),
            ("llvm: build, ms", &|(.., [llvm, _])| figure(llvm.build_ms())),
            ("query, ns", &|(.., [llvm, _])| figure(llvm.query_ns)),
            ("bytes / n", &|(.., [llvm, _])| bytes(llvm)),
            ("union: build, ms", &|(.., [_, union])| figure(union.build_ms())),
            ("query, ns", &|(.., [_, union])| figure(union.query_ns)),
            ("bytes / n", &|(.., [_, union])| bytes(union)),
        ],
    );
    run.report.section("Adversaries", &rows);
    let targets = [("time to build", built), ("memory", held), ("a query", asked)];
    for (what, growths) in targets {
        let work = format!("adversaries: {what}");
        run.report.at_most(&work, "near linear: within 6x for 4x the size", growths, "x", 6.0);
    }
    Ok(())
}
