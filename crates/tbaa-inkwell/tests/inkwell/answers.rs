//! Compares LLVM's alias answers with the expected ones, for each pair of tags. *Lowered* tags
//! replace tags so that LLVM's answers approximate those of another rule.

use inkwell::context::Context;
use tbaa::declare::Policy;
use tbaa::{AliasRule, Format, Graph, Oracle, TagId};
use tbaa_lower::emit::{Lowered, Plan};
use tbaa_lower::{Lowering, Options};

use crate::random::{self, Shape, Universe};
use crate::support::{Code, answers, attach_planned};
use crate::{Rng, runtime};

/// Returns, at `[a][b]`, whether LLVM lets a load with tag `a` alias a store with tag `b`.
fn module_of(name: &str, plan: &dyn Plan, tags: &[TagId]) -> Vec<Vec<bool>> {
    let context = Context::create();
    let code = Code::new(&context, tags.len());
    for (number, &tag) in tags.iter().enumerate() {
        let pointer = code.parameter(number);
        let (_, load) = code.load(pointer, 32, &format!("l{number}"));
        let store = code.store(pointer, 32, number as u64);
        attach_planned(&code.tagger, plan, tag, load).unwrap();
        attach_planned(&code.tagger, plan, tag, store).unwrap();
    }
    code.end(context.i64_type().const_zero().into());
    code.verify();
    let answers = answers(&format!("{name}.ll"), &code.text());
    assert_eq!(answers.len(), tags.len() * tags.len(), "{name}: pairs");
    let row = |a| (0..tags.len()).map(|b| answers[&(a, b)]).collect();
    (0..tags.len()).map(row).collect()
}

fn by_rule(oracle: &Oracle<&Graph>, tags: &[TagId]) -> Vec<Vec<bool>> {
    tags.iter().map(|&a| oracle.row(a, tags)).collect()
}

fn count(rows: &[Vec<bool>]) -> usize {
    rows.iter().flatten().filter(|&&may| !may).count()
}

/// Asserts that LLVM answers as expected for lowered tags and, for alias scopes, exactly as the
/// rule. Returns two numbers of ordered pairs: those that are `NoAlias` by the rule, and those
/// that are `NoAlias` with lowered tags alone.
fn compare(what: &str, graph: &Graph, tags: &[TagId], rules: AliasRule) -> (usize, usize) {
    let name = |part: &str| format!("{what}-{rules:?}-{part}");
    let oracle = Oracle::new(graph, rules);
    let promised = by_rule(&oracle, tags);
    let lower = |options| {
        let mut lowering = Lowering::new(options);
        lowering.lower(&oracle, tags.iter().copied()).unwrap();
        lowering
    };

    let lowering = lower(Options::new());
    let lowered = Oracle::new(lowering.graph(), AliasRule::Llvm);
    let pair = |a, b| lowered.may_alias(lowering.tag(a), lowering.tag(b));
    let expected: Vec<Vec<bool>> =
        tags.iter().map(|&a| tags.iter().map(|&b| pair(a, b)).collect()).collect();
    assert_eq!(module_of(&name("lowered"), &lowering, tags), expected, "{what}");

    let scoped = lower(Options::new().scopes());
    let both = Lowered::new(&scoped, &oracle);
    assert_eq!(module_of(&name("both"), &both, tags), promised, "{what}");
    assert_eq!(module_of(&name("alone"), &both.scopes_alone(), tags), promised, "{what}");
    (count(&promised), count(&expected))
}

#[test]
fn a_runtime_like_lua_s() {
    let (graph, _, tags) = runtime::tags(Policy::Rfc);
    assert_eq!(tags.len(), runtime::paths().len());
    for rules in [AliasRule::Union, AliasRule::UnionStrict] {
        let (promised, lowered) = compare("runtime", &graph, &tags, rules);
        println!("{rules:?}: of {promised} NoAlias pairs {lowered} by lowered tags alone");
        assert!(promised > 400 && lowered * 10 > promised * 9);
    }
}

#[test]
fn random_graphs() {
    let (mut promised, mut lowered) = (0, 0);
    for seed in 0..6 {
        let format = if seed % 3 == 0 { Format::Old } else { Format::New };
        let universe = Universe { format, structs: 10, tags: 40, shape: Shape::Any };
        let graph = random::graph(&mut Rng(seed), &universe);
        let tags: Vec<_> = graph.tags().collect();
        let counts = compare(&format!("random-{seed}"), &graph, &tags, AliasRule::Union);
        promised += counts.0;
        lowered += counts.1;
    }
    println!("of {promised} NoAlias pairs {lowered} by lowered tags alone");
    assert!(lowered < promised, "scopes add nothing");
}

#[test]
fn tags_as_clang_has_them() {
    let (graph, _, tags) = runtime::tags(Policy::Clang);
    let oracle = Oracle::new(&graph, AliasRule::Llvm);
    assert_eq!(module_of("clang", &graph, &tags), by_rule(&oracle, &tags));
}
