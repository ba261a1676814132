//! Benchmarks on real programs: queries, all pairs of tags, reading and writing.

use tbaa::{AliasRule, Format, Oracle};

use super::Run;
use crate::heap::growth;
use crate::programs::{Program, programs};
use crate::queries::Subject;
use crate::report::{figure, grouped, table, table_of, with_unit};
use crate::sample::Race;
use crate::scaling::ended;
use crate::texts::{race_read, race_write};

/// The measurements of a program in one metadata format.
struct Measured {
    what: String,
    tags: usize,
    /// True if the text has functions; false if it has metadata alone.
    whole: bool,
    /// The length of the text that is read, in bytes.
    text: usize,
    /// The length of the metadata that is written, in bytes.
    metadata: usize,
    /// The oracle's memory in bytes, divided by the number of tags in the graph.
    oracle_bytes: f64,
    query: Race,
    all_pairs: Race,
    read: Race,
    write: Race,
}

pub(super) fn measure(run: &mut Run<'_>) -> Result<(), String> {
    let mut all = Vec::new();
    if run.llvm.is_some() {
        for program in programs(run.quick) {
            for format in [Format::Old, Format::New] {
                all.push(one(run, &program, format)?);
            }
        }
    }
    queries(run, &all);
    generic(run, &all);
    texts(run, &all);
    Ok(())
}

fn one(run: &mut Run<'_>, program: &Program, format: Format) -> Result<Measured, String> {
    let text = ended(program.text(format, &run.cache)?);
    let what = format!("{}, {}", program.name, name_of(format));
    let module =
        tbaa_ir::read(&text[..text.len() - 1]).map_err(|error| format!("{what}: {error}"))?;
    let graph = module.graph();
    // If the text has only metadata, no instruction has a tag. Then all tags of the graph are used.
    let attached = module.attached_tags();
    let whole = !attached.is_empty();
    let tags = if whole { attached } else { graph.tags().collect() };
    let (bytes, oracle) = growth(|| Oracle::new(graph, AliasRule::Llvm));
    drop(oracle);
    let llvm = run.llvm.and_then(|llvm| llvm.parse(&text));
    let mut subject = Subject::new(graph, tags, llvm);
    let query = subject.race(&mut run.sampler, &what);
    let all_pairs = subject.race_all_pairs(&mut run.sampler, &what);
    let tags = subject.tags.len();
    drop(subject);
    let read = race_read(&mut run.sampler, run.llvm, &what, &text);
    let metadata = ended(tbaa_ir::write(graph));
    let write = race_write(&mut run.sampler, run.llvm, &what, &metadata);
    Ok(Measured {
        what,
        tags,
        whole,
        text: text.len() - 1,
        metadata: metadata.len() - 1,
        oracle_bytes: bytes / graph.tag_count() as f64,
        query,
        all_pairs,
        read,
        write,
    })
}

pub(super) fn name_of(format: Format) -> &'static str {
    match format {
        Format::Old => "old",
        Format::New => "new",
    }
}

fn queries(run: &mut Run<'_>, all: &[Measured]) {
    let ns = |name: &'static str| move |m: &Measured| figure(m.query.ns(name));
    let ratio = |above: &'static str, below: &'static str| {
        move |m: &Measured| with_unit(m.query.ratio(above, below), "x")
    };
    let rows = table_of(
        all,
        &[
            ("program", &|m| m.what.clone()),
            ("tags", &|m| grouped(m.tags as f64)),
            ("two 16-byte records, ns", &ns("16 bytes")),
            ("tbaa, ns", &ns("tbaa")),
            ("mask, ns", &ns("mask")),
            ("tbaa / 16-byte records", &ratio("tbaa", "16 bytes")),
            ("LLVM, ns", &ns("LLVM")),
            ("LLVM / tbaa", &ratio("LLVM", "tbaa")),
            ("union / llvm", &ratio("union", "tbaa")),
            ("sized again / union", &ratio("sized again", "union")),
            ("two threads", &ratio("tbaa", "two threads")),
            ("oracle, bytes a tag", &|m| figure(m.oracle_bytes)),
        ],
    );
    run.report.section("Queries on real programs", &rows);

    let all_ns = |name: &'static str| all.iter().map(move |m| m.query.ns(name));
    let work = "`may_alias` of two tags of a program";
    run.report.summary(work, " ns", all_ns("tbaa"), all_ns("LLVM"));
    let is_large = |m: &&Measured| m.tags >= 10_000;
    let small = || all.iter().filter(|m| !is_large(m));
    let limits = small().map(|m| m.query.ratio("tbaa", "16 bytes"));
    let ratios = small().map(|m| m.query.ratio("LLVM", "tbaa"));
    let work = "one `may_alias`, random pairs over a C module's tags";
    run.report.at_most(work, "1.25x of two random records", limits, "x", 1.25);
    run.report.at_least(work, "50 times LLVM", ratios, "x", 50.0);
    let large = all.iter().filter(is_large).map(|m| m.query.ns("tbaa"));
    let ratios = all.iter().filter(is_large).map(|m| m.query.ratio("LLVM", "tbaa"));
    let work = "the same over a linked C++ program (15,000 tags)";
    run.report.at_most(work, "under 5 ns", large, " ns", 5.0);
    run.report.at_least(work, "250 times LLVM", ratios, "x", 250.0);
    let ratios = all.iter().map(|m| m.query.ratio("sized again", "union"));
    let work = "accesses with sizes of their own, rule `union`, asked again";
    run.report.at_most(work, "1.5x of tags", ratios, "x", 1.5);
    for rule in ["union", "union-strict"] {
        let ratios = all.iter().map(|m| m.query.ratio(rule, "tbaa"));
        let work = format!("rule `{rule}`, real programs");
        run.report.at_most(&work, "1.5x of rule `llvm`", ratios, "x", 1.5);
    }
}

fn generic(run: &mut Run<'_>, all: &[Measured]) {
    let rows = table_of(
        all,
        &[
            ("program", &|m| m.what.clone()),
            ("all pairs: tbaa, ns a pair", &|m| figure(m.all_pairs.ns("tbaa"))),
            ("LLVM / tbaa", &|m| with_unit(m.all_pairs.ratio("LLVM", "tbaa"), "x")),
            ("most generic tag: tbaa, ns", &|m| figure(m.query.ns("generic"))),
            ("LLVM / tbaa", &|m| with_unit(m.query.ratio("LLVM generic", "generic"), "x")),
        ],
    );
    run.report.section("All pairs, and the most generic tag", &rows);
    let pairs = all.iter().map(|m| m.all_pairs.ns("tbaa"));
    let llvm = all.iter().map(|m| m.all_pairs.ns("LLVM"));
    run.report.summary("all pairs of a program's tags, each", " ns", pairs.clone(), llvm);
    let [ours, llvm] =
        ["generic", "LLVM generic"].map(|name| all.iter().map(move |m| m.query.ns(name)));
    run.report.summary("`most_generic` of two tags", " ns", ours, llvm);
    let ratios = all.iter().map(|m| m.query.ratio("LLVM generic", "generic"));
    run.report.at_least("`most_generic`", "5 times LLVM", ratios, "x", 5.0);
    run.report.at_most("all pairs of a module", "under 0.1 ns a pair", pairs, " ns", 0.1);
}

fn megabytes_a_second(ns_a_byte: Option<f64>) -> Option<f64> {
    Some(1e3 / ns_a_byte?)
}

fn texts(run: &mut Run<'_>, all: &[Measured]) {
    let row = |what: &str, m: &Measured, size: usize, race: &Race, limit: &str| {
        vec![
            format!("{what} {}{}", m.what, if m.whole { "" } else { ", metadata alone" }),
            format!("{:.1}", size as f64 / 1e6),
            figure(megabytes_a_second(race.ns("tbaa"))),
            figure(megabytes_a_second(race.ns("LLVM"))),
            with_unit(race.ratio("LLVM", "tbaa"), "x"),
            figure(megabytes_a_second(race.ns(limit))),
        ]
    };
    // The table has only the old format: the new one takes the same time. Summaries have both.
    let old = || all.iter().step_by(2);
    let reads = old().map(|m| row("read", m, m.text, &m.read, "count lines"));
    let writes = old().map(|m| row("write", m, m.metadata, &m.write, "copy"));
    let rows: Vec<_> = reads.chain(writes).collect();
    let header = ["text", "MB", "tbaa, MB/s", "LLVM, MB/s", "LLVM / tbaa", "limit, MB/s"];
    run.report.section("Reading and writing `.ll`", &table(&header, &rows));
    let speed = |name: &'static str, whole: bool| {
        let some = all.iter().filter(move |m| m.whole == whole);
        some.map(move |m| megabytes_a_second(m.read.ns(name)))
    };
    for (work, whole) in [("read a `.ll`", true), ("read metadata alone", false)] {
        run.report.summary(work, " MB/s", speed("tbaa", whole), speed("LLVM", whole));
    }
    let alone = all.iter().filter(|m| !m.whole).map(|m| m.read.ratio("LLVM", "tbaa"));
    run.report.at_least("read metadata alone", "10 times LLVM's parser", alone, "x", 10.0);
    let large = || all.iter().filter(|m| m.whole && m.text >= 25_000_000).map(|m| &m.read);
    let speeds = large().map(|race| megabytes_a_second(race.ns("tbaa")));
    let ratios = large().map(|race| race.ratio("LLVM", "tbaa"));
    let work = "read a 25 MB `.ll`";
    run.report.at_least(work, "20 times LLVM's parser", ratios, "x", 20.0);
    run.report.at_least(work, "over 1 GB/s", speeds, " MB/s", 1000.0);
}
