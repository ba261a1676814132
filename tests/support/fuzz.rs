//! The bodies of the fuzz targets. None may panic, overflow or run out of stack. Results that must
//! be equal by definition are compared.
//!
//! `fuzz/` runs these under a fuzzer; a test runs each on a few seeds.

use arbitrary::{Arbitrary, Unstructured};
use tbaa::declare::{Declarations, Policy};
use tbaa::explain::Clause;
use tbaa::spec::Spec;
use tbaa::types::{Context, DataLayout, Encoding, Equality, MergedTypes, TypeClasses};
use tbaa::wellformed::Verifier;
use tbaa::{
    Access, AliasRule, CopyEntry, Format, Graph, Operand, Oracle, SizedField, Tag, TagId, TypeId,
    TypeKind,
};
use tbaa_check::blocks::Judge;
use tbaa_check::link::{Linked, Summary};
use tbaa_check::lint::{Lint, lint, lint_graph};
use tbaa_check::verify::{verify, verify_graph};
use tbaa_check::{Diagnostic, Level};
use tbaa_ir::clang::ClangRecords;
use tbaa_ir::types::ReadTypes;
use tbaa_ir::{Effects, Flow, Keep, Module, Names, Pointers, Sizes};
use tbaa_lower::{Lowering, Options};

use crate::Rng;
use crate::engines::Compared;
use crate::lowered::check;
use crate::random;
use crate::universe::{self, Taste, Universe};

/// A target: its name, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets except that of the C interface.
pub const TARGETS: [Target; 9] = [
    ("text", text),
    ("module", module),
    ("spec", spec),
    ("types", types),
    ("declare", declare),
    ("serial", serial),
    ("builder", builder),
    ("oracle", oracle),
    ("lower", lower),
];

/// The most tags of a graph that most targets query.
const TAGS: usize = 12;

/// Queries some tags by all rules. By rule `llvm`, a tag that LLVM rejects must alias every tag.
fn ask(graph: &Graph) {
    let tags: Vec<TagId> = graph.tags().step_by(graph.tag_count() / TAGS + 1).collect();
    let mut verifier = Verifier::new(graph);
    for rules in AliasRule::ALL {
        let oracle = Oracle::new(graph, rules);
        let matrix = oracle.matrix(&tags);
        for (i, &a) in tags.iter().enumerate() {
            let is_rejected = rules == AliasRule::Llvm && verifier.check(a).is_err();
            for (j, &b) in tags.iter().enumerate() {
                let (may, why) = (oracle.may_alias(a, b), oracle.explain(a, b));
                assert_eq!([oracle.may_alias(b, a), matrix.may_alias(i, j)], [may; 2], "{rules}");
                assert!(oracle.alias(a, b) == why.answer || why.clause == Clause::Limit, "{why}");
                let wide = Access::of_width(graph, a, 64);
                assert!(may <= oracle.may_alias(wide, b), "a wider access: {a:?} {b:?}");
                assert!(may || !is_rejected, "rejected, yet an answer: {a:?}");
                let _ = oracle.most_generic(a, b);
            }
        }
        for copy in graph.copies().take(TAGS) {
            tags.iter().for_each(|&tag| _ = oracle.copy_may_alias(copy, tag));
        }
    }
}

/// Returns what every lint and the verifier find in a module. Checks that each finding has a
/// position in the text, and that findings about the module's graph alone have none.
pub fn findings(module: &Module<'_>) -> Vec<Diagnostic> {
    let all = Lint::ALL.iter().fold(tbaa_check::lint::Options::default(), |options, &lint| {
        options.set(lint, Some(Level::Warning))
    });
    let mut found: Vec<_> = lint(module, &all).into_iter().collect();
    for rules in [AliasRule::Llvm, AliasRule::Union] {
        found.extend(verify(module, rules));
    }
    for finding in &found {
        let primary = finding.primary.as_ref().expect("a place");
        for span in finding.secondary.iter().chain([primary]).map(|secondary| &secondary.span) {
            assert!(span.start < span.end && span.end <= module.text().len(), "{finding:?}");
        }
    }
    let graph = module.graph();
    let (linted, verified) = (lint_graph(graph, &all), verify_graph(graph, AliasRule::Llvm));
    assert!(linted.iter().chain(&verified).all(|linted| linted.primary.is_none()));
    found
}

/// Reads `.ll` text. A module that is read is checked, linked, written and read again. An error
/// must have the line and column of its offset.
pub fn text(data: &[u8]) {
    for keep in [Keep::All, Keep::Used] {
        match tbaa_ir::read_with(data, keep) {
            Ok(module) => use_all(&module, keep),
            Err(error) => {
                assert!(error.offset <= data.len() && !error.to_string().is_empty());
                let place = (error.line, error.column);
                return assert_eq!(place, tbaa_ir::position(data, error.offset));
            }
        }
    }
}

fn use_all(module: &Module<'_>, keep: Keep) {
    findings(module);
    let (data, graph) = (module.text(), module.graph());
    let names = Names::of_module(module);
    assert!(graph.tags().all(|tag| !names.tag(tag).is_empty()));
    module.instructions().iter().for_each(|instruction| _ = module.access_type(instruction));
    assert_eq!(tbaa_ir::Rewriter::new(module).to_bytes().as_deref(), Ok(data));
    ask(graph);
    let written = tbaa_ir::write(graph);
    let again = tbaa_ir::read(written.as_bytes()).expect("what was written is read").into_graph();
    // An operand such as `ptr @g`, which only its module can name, is written as null. So two
    // different nodes may become equal.
    let is_raw = |node| graph.operands(node).any(|operand| matches!(operand, Operand::Raw(_)));
    let (before, after) = (graph.tag_count(), again.tag_count());
    let fits = after == before || after < before && graph.nodes().any(is_raw);
    assert!(fits, "{keep:?} {}\n=>\n{written}", String::from_utf8_lossy(data));
    let _ = (tbaa_ir::write_mlir(graph), graph.type_dag());
    assert!(Spec::load(&tbaa::spec::write(graph)).is_ok(), "a spec that does not load");
    link(graph);
}

/// Reads `.ll` text with function bodies. Analyses, instruments, tags and lowers the module.
pub fn module(data: &[u8]) {
    let Ok(module) = tbaa_ir::read(data) else { return };
    let (effects, sizes) = (Effects::new(&module), Sizes::new(&module));
    for number in 0..module.functions().len() as u32 {
        let function = std::rc::Rc::new(module.function(&sizes, number));
        for (at, inst) in function.instructions.iter().enumerate() {
            assert!(inst.span.start < inst.span.end && inst.span.end <= data.len());
            assert!(function.blocks[function.block_of(at)].instructions.contains(&at));
            let _ = function.call(inst).map(|call| effects.on_loads(&call));
            let _ = function.alloca(inst);
        }
        let in_blocks: usize = function.blocks.iter().map(|block| block.instructions.len()).sum();
        assert_eq!(in_blocks, function.instructions.len());
        if !function.blocks.is_empty() {
            let flow = Flow::of(&function);
            loops(&flow, function.blocks.len());
            let pointers = Pointers::new(&function, Some(&flow), &effects);
            for value in function.values() {
                let _ = (pointers.address(value), pointers.origins(value), function.users(value));
            }
        }
    }
    let _ = Judge::new(&module, &sizes, &effects).functions(|_| true);
    for form in [tbaa_instrument::Form::Calls, tbaa_instrument::Form::Assembly] {
        if let Ok(checked) = tbaa_instrument::instrument(&module, form) {
            assert!(checked.skipped.iter().all(|skipped| skipped.offset <= data.len()));
        }
    }
    if let Ok(found) = tbaa_tag::tag(&module, &tbaa_tag::Options::new().elements()) {
        let mut verifier = Verifier::new(&found.graph);
        assert!(found.tags.iter().all(|tag| verifier.check(tag.tag).is_ok()));
        let _ = found.to_bytes(&module);
    }
    let tags: Vec<TagId> = module.graph().tags().take(TAGS).collect();
    let source = Oracle::new(module.graph(), AliasRule::Union);
    let mut lowering = Lowering::new(Options::new());
    if lowering.lower(&source, &tags).is_ok() {
        assert!(lowering.check(&source).is_empty());
        let mut rewriter = tbaa_ir::Rewriter::new(&module);
        for index in 0..module.instructions().len() {
            rewriter.set_metadata(index, "tbaa", (index % 2 == 0).then_some(3));
        }
        // The rewritten text need not be valid: the test is that rewriting ends.
        let _ = rewriter.to_bytes();
    }
}

/// Checks the natural loops of a function. A back edge goes to a header that dominates its source.
/// The loop is the header and all blocks that reach such a source without passing the header.
fn loops(flow: &Flow, blocks: usize) {
    /// The most blocks of a function whose loops are checked. The check is slow.
    const MOST: usize = 200;
    let ends =
        |header: usize| flow.before(header).filter(move |&before| flow.dominates(header, before));
    if blocks > MOST {
        return (0..blocks).for_each(|block| _ = flow.depth(block));
    }
    let mut depths = vec![0; blocks];
    for header in (0..blocks).filter(|&block| ends(block).next().is_some()) {
        let around = flow.loops.iter().find(|around| around.header == header);
        let around = around.expect("a header has a loop");
        let (mut found, mut pending) = (vec![header], ends(header).collect::<Vec<_>>());
        while let Some(block) = pending.pop() {
            if !found.contains(&block) {
                found.push(block);
                pending.extend(flow.before(block).filter(|&before| flow.is_reached(before)));
            }
        }
        found.iter().for_each(|&found| depths[found] += 1);
        found.sort_unstable();
        let mut ours = flow.blocks_of(around).to_vec();
        ours.sort_unstable();
        assert_eq!(ours, found);
        assert!((0..blocks).all(|block| flow.is_in(around, block) == found.contains(&block)));
    }
    assert_eq!((0..blocks).map(|block| flow.depth(block)).collect::<Vec<usize>>(), depths);
}

/// Checks that a graph's summary, linked with itself, stays equal.
fn link(graph: &Graph) {
    let (summary, _) = Summary::of("a.ll", graph);
    let (twice, _) = Summary::link(&[&summary, &summary]);
    assert_eq!(twice, summary);
    let linked = Linked::from_summary(summary).expect("as large as what there was");
    let oracle = linked.oracle(AliasRule::Union);
    let tags: Vec<TagId> = linked.graph().tags().take(TAGS).collect();
    tags.iter().for_each(|&a| tags.iter().for_each(|&b| _ = oracle.alias(a, b)));
}

/// Reads a RON spec, queries and writes it. The written spec must load and have as many tags.
pub fn spec(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let Ok(built) = Spec::load(source) else { return };
    let _ = built.check();
    ask(built.graph());
    let written = tbaa::spec::write(built.graph());
    let again = Spec::load(&written).expect("what was written loads");
    assert_eq!(again.graph().tag_count(), built.graph().tag_count());
}

/// Reads LLVM's types and data layouts, computes layouts, and prints, compares and merges types.
pub fn types(data: &[u8]) {
    let mut parts = data.splitn(3, |&byte| byte == 0);
    let mut part = || parts.next().unwrap_or_default();
    let layout = std::str::from_utf8(part()).ok().and_then(|layout| layout.parse().ok());
    let layout: DataLayout = layout.unwrap_or_default();
    let (mut a, mut b) = (Context::new(), Context::new());
    let (Ok(_), Ok(_)) = (a.read_definitions(part()), b.read_definitions(part())) else { return };
    for context in [&a, &b] {
        let mut layouts = layout.layouts(context);
        for ty in context.types().take(200) {
            let _ = (layouts.alloc_size(ty), layouts.abi_align(ty), layouts.struct_layout(ty));
            let _ = Encoding::of(context, ty);
        }
        let mut printed = String::new();
        context.write_definitions(&mut printed).expect("memory");
        let mut again = Context::new();
        again.read_definitions(printed.as_bytes()).expect("what was printed is read");
        assert_eq!(again.structs().len(), context.structs().len());
    }
    for equality in [Equality::Structural, Equality::Unfolding] {
        let classes = TypeClasses::new(&[&a, &b], equality);
        for (x, y) in a.types().zip(b.types()).take(20) {
            let encodings = Encoding::of(&a, x).zip(Encoding::of(&b, y));
            let same = encodings.is_some_and(|(x, y)| x == y);
            assert!(same <= classes.same(x, y) || !classes.is_exact());
        }
    }
    let definitions = |parts: &[&Context]| {
        let mut text = String::new();
        let merged = MergedTypes::new(parts).ok()?;
        let context = merged.context();
        assert_eq!(context.find_cycle(context.structs()), None);
        context.write_definitions(&mut text).ok()?;
        Some(text)
    };
    let nameless = |context: &Context| {
        context.structs().any(|ty| context.name(ty).is_none() && context.parts(ty).is_empty())
    };
    if !nameless(&a) && !nameless(&b) {
        assert_eq!(definitions(&[&a, &b]), definitions(&[&b, &a]));
    }
}

/// Reads C types and paths, and clang's dumps of layouts.
pub fn declare(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let mut types = Declarations::new(tbaa::declare::Target::x86_64());
    ClangRecords::parse(source).declare(&mut types);
    for line in source.lines().take(50) {
        let _ = (types.ty(line), types.offset_of(line));
    }
    for policy in [Policy::Clang, Policy::Rfc] {
        let mut types = types.clone().into_tagged(policy);
        let mut graph = Graph::new();
        for line in source.lines().take(50) {
            let _ = types.tag(&mut graph, line);
        }
        let records: Vec<_> = types.types().records().take(50).collect();
        for record in records {
            let _ = (types.node(&mut graph, record), types.copy(&mut graph, record));
        }
        ask(&graph);
    }
}

/// Reads serialised graphs and summaries.
pub fn serial(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    if let Ok(graph) = ron::from_str::<Graph>(source) {
        ask(&graph);
        let again = ron::to_string(&graph).expect("a graph is data");
        assert_eq!(ron::from_str::<Graph>(&again).as_ref(), Ok(&graph));
        link(&graph);
    }
    if let Ok(summary) = ron::from_str::<Summary>(source) {
        let again = ron::to_string(&summary).expect("a summary is data");
        assert_eq!(ron::from_str::<Summary>(&again).as_ref(), Ok(&summary));
        assert_eq!(Summary::link(&[&summary, &summary]).0, summary);
        let _ = Linked::from_summary(summary);
    }
}

/// Names easily confused with each other, with keys that a spec invents, or with RON's syntax.
const NAMES: [&[u8]; 12] = [
    b"int",
    b"int#2",
    b"int#3",
    b"",
    b"anonymous",
    b"empty",
    b"a\"b\\c\n",
    b"\xff\xfe\\41",
    "caf\u{e9}\u{2028}\u{200f}".as_bytes(),
    b"\0",
    b"S+4",
    b"*/ // (",
];

/// A call of the builder, or a query.
#[derive(Arbitrary, Debug)]
enum Call {
    Root(u8),
    AnonymousRoot,
    EmptyRoot,
    Scalar(u8, u8),
    Struct(u8, Vec<(u8, u8)>),
    Sized(u8, u8, u8, Vec<(u8, u8, u8)>),
    Tag(u8, u8, u8, Option<u64>, bool),
    /// Adds a tag for the type at the end of a path from a base type.
    Walk(u8, u8, u8, bool),
    /// Adds an existing tag again, with 2^64-1 for an unknown size, as LLVM writes merged tags.
    Again(u8),
    Mutable(u8),
    Copy(u8, u8, u8),
    Huge(u8, u64),
    Ask(u8, u8),
}

/// Returns the graph that the builder makes from some calls.
pub fn graph(data: &[u8]) -> Graph {
    let mut input = Unstructured::new(data);
    let (mut graph, mut types, mut tags) = (Graph::new(), Vec::new(), Vec::new());
    while let (false, Ok(call)) = (input.is_empty(), Call::arbitrary(&mut input)) {
        _ = make(&mut graph, &call, &mut types, &mut tags);
    }
    graph
}

/// Calls the builder and queries. An oracle that grows must answer like one made at the end.
pub fn builder(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(rules) = input.choose(&AliasRule::ALL) else { return };
    let mut grown = Oracle::new(Graph::new(), *rules);
    let (mut types, mut tags): (Vec<TypeId>, Vec<TagId>) = (Vec::new(), Vec::new());
    let mut asked = Vec::new();
    while let (false, Ok(call)) =
        (input.is_empty() || types.len() > 40, Call::arbitrary(&mut input))
    {
        if let Call::Ask(a, b) = call {
            if let (Some(&a), Some(&b)) = (nth(&tags, a), nth(&tags, b)) {
                asked.push((a, b, grown.may_alias(a, b)));
            }
            continue;
        }
        _ = grown.update(|graph| make(graph, &call, &mut types, &mut tags));
    }
    let fresh = Oracle::new(grown.graph(), *rules);
    for (a, b, may) in asked {
        assert_eq!(fresh.may_alias(a, b), may, "{rules}: {a:?} {b:?}");
    }
    tags.truncate(TAGS);
    Compared::default().every_engine("builder", grown.graph(), &tags);
}

fn nth<T>(list: &[T], index: u8) -> Option<&T> {
    list.get(usize::from(index).checked_rem(list.len())?)
}

/// Performs a call. `None` if the call is a query, refers to a missing type or tag, or is refused.
fn make(
    graph: &mut Graph,
    call: &Call,
    types: &mut Vec<TypeId>,
    tags: &mut Vec<TagId>,
) -> Option<()> {
    let name = |name: u8| nth(&NAMES, name).copied().unwrap_or_default();
    let ty = |index: u8| nth(types, index).copied();
    let tag = |index: u8| nth(tags, index).copied();
    let mut b = graph.builder();
    let made = match call {
        &Call::Root(of) => b.root(name(of)),
        Call::AnonymousRoot => b.anonymous_root(),
        Call::EmptyRoot => b.empty_root(),
        &Call::Scalar(of, parent) => b.scalar_type(name(of), ty(parent)?),
        Call::Struct(of, fields) => {
            let fields = fields.iter().take(8);
            let mut fields: Vec<_> =
                fields.filter_map(|&(of, at)| Some((ty(of)?, u64::from(at % 32)))).collect();
            fields.sort_by_key(|field| field.1);
            b.struct_type(name(*of), &fields)
        }
        Call::Sized(of, parent, size, fields) => {
            let fields = fields.iter().take(8).filter_map(|&(of, at, size)| {
                Some(SizedField { ty: ty(of)?, offset: (at % 32).into(), size: (size % 32).into() })
            });
            let mut fields: Vec<_> = fields.collect();
            fields.sort_by_key(|field| field.offset);
            b.sized_type(ty(*parent)?, u64::from(*size % 64), name(*of), &fields)
        }
        &Call::Huge(of, at) => b.struct_type(name(of), &[(ty(of)?, at)]),
        &Call::Tag(base, access, at, size, immutable) => {
            let format = if size.is_some() { Format::New } else { Format::Old };
            let (offset, size) = ((at % 64).into(), size.map(Into::into));
            let (base, access) = (ty(base)?, ty(access)?);
            let tag = Tag { base, access, offset, size, immutable, format };
            return b.tag(tag).ok().map(|tag| tags.push(tag));
        }
        &Call::Walk(base, way, size, immutable) => {
            let base = ty(base)?;
            let (mut access, mut offset) = (base, 0_u64);
            while graph.ty(access).kind() == TypeKind::Aggregate {
                let fields: Vec<_> = graph.ty(access).fields().collect();
                let field = nth(&fields, way)?;
                (access, offset) = (field.ty, offset.checked_add(field.offset)?);
            }
            let made = random::access(graph, base, access, offset, (size % 8).into(), immutable);
            return made.ok().map(|tag| tags.push(tag));
        }
        &Call::Again(of) => {
            let of = graph.tag(tag(of)?).ok()?;
            return graph.insert_tag(of).ok().map(|tag| tags.push(tag));
        }
        &Call::Mutable(of) => return b.mutable_tag(tag(of)?).ok().map(|tag| tags.push(tag)),
        &Call::Copy(first, second, at) => {
            let entry = |offset, tag| CopyEntry { offset, size: 4, tag };
            let entries = [entry(0, tag(first)?), entry((at % 16).into(), tag(second)?)];
            return b.struct_copy(&entries).ok().map(drop);
        }
        Call::Ask(..) => return None,
    };
    made.ok().map(|ty| types.push(ty))
}

/// Returns a random universe (types and tags); each of the first four groups of 8 bytes is a seed.
fn universe(data: &[u8]) -> Universe {
    let seed = |bytes: &[u8]| bytes.iter().fold(0, |seed, &byte| seed << 8 | u64::from(byte));
    let mut seeds = data.chunks(8).map(seed);
    let first = seeds.next().unwrap_or(0);
    let mut u = universe::random(&mut Rng(first), first % 2 == 0, Taste::Mixed);
    seeds.take(3).for_each(|seed| universe::grow(&mut Rng(seed), &mut u, Taste::Mixed));
    u
}

/// Compares all engines on a random universe.
pub fn oracle(data: &[u8]) {
    let (graph, tags) = universe(data).graph();
    Compared::default().every_engine("universe", &graph, &tags[tags.len() - TAGS..]);
}

/// Compares rule `llvm` on the lowered tags with a random rule on the original tags.
pub fn lower(data: &[u8]) {
    let Some((&how, data)) = data.split_first() else { return };
    let (graph, tags) = universe(data).graph();
    let rules = AliasRule::ALL[usize::from(how) % AliasRule::ALL.len()];
    let format = if how >= 128 { Format::New } else { Format::Old };
    let mut options = Options::new().format(format);
    options.scopes = how / 8 % 2 == 1;
    let source = Oracle::new(&graph, rules);
    let mut lowering = Lowering::new(options);
    lowering.lower(&source, &tags).expect("small enough");
    check(&rules.to_string(), &source, &lowering);
}
