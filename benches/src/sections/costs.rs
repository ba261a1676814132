//! Growing, memory, adversaries.

use std::time::Duration;

use tbaa::{Format, Rules};

use super::Run;
use super::programs::name_of;
use crate::growth::{Cost as Growth, cost};
use crate::report::{figure, grouped, largest, range, smallest, table, with_unit};
use crate::scaling::{self, Cost, in_llvm};
use crate::synthetic::{Adversary, Program};

pub(super) fn growing(run: &mut Run<'_>) -> Result<(), String> {
    let budget = Duration::from_millis(run.pick(300, 2));
    let counts: &[usize] = run.pick(&[1_000, 10_000, 100_000, 1_000_000], &[100, 200]);
    let fields: &[usize] = run.pick(&[2, 8, 64, 512], &[2, 8]);
    let mut rows = Vec::new();
    let mut measure = |run: &Run<'_>, tags: usize, fields: usize| {
        let make = || {
            Program { format: Format::Old, structs: tags.div_ceil(10), tags, unions: false }.graph()
        };
        let mut llvm = in_llvm(run.llvm, &make());
        let cost = cost(make, llvm.as_mut(), fields, budget);
        rows.push(vec![
            grouped(tags as f64),
            grouped(fields as f64),
            figure(cost.graph),
            figure(cost.oracle),
            figure(cost.llvm),
            with_unit(cost.llvm.map(|llvm| llvm / cost.oracle), "x"),
        ]);
        cost
    };
    let by_size: Vec<_> = counts.iter().map(|&tags| measure(run, tags, 8)).collect();
    let by_fields: Vec<_> = fields.iter().map(|&fields| measure(run, counts[0], fields)).collect();
    let header =
        ["tags before", "fields", "graph, ns", "graph and query, ns", "LLVM, ns", "LLVM / tbaa"];
    run.report.section(
        "Growing",
        "One more struct type and a tag of it, in a graph that holds so many tags: in the graph \
         alone, and where each is followed by a query of the new tag. LLVM: the same by \
         `MDBuilder`, without the query.",
        &table(&header, &rows),
    );
    let all = || by_size.iter().chain(&by_fields);
    run.report.summary(
        "add a type and a tag, and ask; LLVM does not ask",
        " ns",
        all().map(|cost| Some(cost.oracle)),
        all().map(|cost| cost.llvm),
    );
    let ratios = all().map(|cost| cost.llvm.map(|llvm| llvm / cost.oracle));
    run.report.target(
        "add a type and a tag, and ask",
        "1.5 times LLVM, which does not ask",
        smallest(ratios.clone()),
        range(ratios, "x"),
        |worst| worst >= 1.5,
    );
    let last = |costs: &[Growth]| {
        costs.last().zip(costs.first()).map(|(last, first)| last.oracle / first.oracle)
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
    // Tables double when they are full: a number just past a power of two, one
    // between, and one just before.
    let counts: &[usize] = run.pick(&[33_000, 47_500, 65_500], &[1_000]);
    let mut rows = Vec::new();
    let (mut tags, mut fields, mut llvm_tags) = (Vec::new(), Vec::new(), Vec::new());
    for format in [Format::Old, Format::New] {
        for &structs in counts {
            let ours = scaling::bytes(format, structs);
            let llvm = run.llvm.map(|llvm| scaling::llvm_bytes(llvm, format, structs));
            tags.push(Some(ours.tag_in_graph + ours.tag_in_oracle));
            fields.push(Some(ours.field));
            llvm_tags.push(llvm.as_ref().map(|llvm| llvm.tag_in_graph));
            rows.push(vec![
                grouped(structs as f64),
                name_of(format).to_owned(),
                figure(ours.tag_in_graph),
                figure(ours.tag_in_oracle),
                figure(llvm.map(|llvm| llvm.tag_in_graph)),
                figure(ours.field),
                figure(llvm.map(|llvm| llvm.field)),
                figure(ours.ty),
                figure(llvm.map(|llvm| llvm.ty)),
            ]);
        }
    }
    let header = [
        "structs",
        "format",
        "tag: graph",
        "oracle",
        "LLVM",
        "field: graph",
        "LLVM",
        "type: graph",
        "LLVM",
    ];
    run.report.section(
        "Memory",
        "Bytes on the heap beside names: a tag (8 a struct), a field (16 a struct against 8), a \
         type without its fields. LLVM's are what its parser leaves. The numbers of structs lie \
         just past, between and just before those at which tables double.",
        &table(&header, &rows),
    );
    run.report.summary(
        "memory of a tag, graph and oracle; LLVM's node",
        " bytes",
        tags.clone(),
        llvm_tags,
    );
    run.report.target(
        "memory of a tag, graph and oracle, synthetic",
        "64 bytes",
        largest(tags.iter().copied()),
        range(tags, " bytes"),
        |worst| worst <= 64.0,
    );
    run.report.target(
        "memory of a field",
        "24 bytes",
        largest(fields.iter().copied()),
        range(fields, " bytes"),
        |worst| worst <= 24.0,
    );
    Ok(())
}

/// An adversary that takes longer to build than this is not tried four times as
/// large.
const PATIENCE_MS: f64 = 2_000.0;

pub(super) fn adversaries(run: &mut Run<'_>) -> Result<(), String> {
    let sizes = run.pick([1_600, 6_400, 25_600, 102_400], [4, 16, 64, 256]);
    let mut rows = Vec::new();
    let (mut built, mut held, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for adversary in Adversary::ALL {
        for format in [Format::Old, Format::New] {
            for rules in [Rules::Llvm, Rules::Union] {
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
                    rows.push(vec![
                        adversary.name().to_owned(),
                        name_of(format).to_owned(),
                        rules.to_string(),
                        grouped(cost.n as f64),
                        figure(cost.graph_ms),
                        figure(cost.oracle_ms),
                        figure(cost.query_ns),
                        grouped(cost.bytes / cost.n as f64),
                    ]);
                }
            }
        }
    }
    let header = [
        "graph",
        "format",
        "rule",
        "n",
        "graph, ms",
        "oracle, ms",
        "query, ns",
        "bytes, graph and oracle, / n",
    ];
    run.report.section(
        "Adversaries",
        "Graphs of n types, or fields, on which an engine that lists paths or fields falls. All \
         have 64 tags but the wide struct and the scalars, which have n. What takes 2 seconds to \
         build is not tried four times as large.",
        &table(&header, &rows),
    );
    let targets = [("time to build", built), ("memory", held), ("a query", asked)];
    for (what, growths) in targets {
        run.report.target(
            &format!("adversaries: {what}"),
            "near linear: within 6x for 4x the size",
            largest(growths.iter().copied()),
            range(growths, "x"),
            |worst| worst <= 6.0,
        );
    }
    Ok(())
}
