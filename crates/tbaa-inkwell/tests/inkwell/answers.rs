//! LLVM's answers, pair by pair.

use inkwell::context::Context;
use tbaa::declare::Policy;
use tbaa::emit::{Bisect, Plan, ScopePlan, Scopes};
use tbaa::lower::{Lowering, Options};
use tbaa::{Graph, Oracle, Rules, TagId};
use tbaa_inkwell::{LlvmSink, Tagger};

use crate::runtime;
use crate::support::{Code, answers};

/// A load and a store with each tag, each through a pointer of its own.
fn module_of(name: &str, plan: &impl Plan, tags: &[TagId]) -> Vec<Vec<bool>> {
    let context = Context::create();
    let mut tagger = Tagger::with_sink(LlvmSink::new(&context), Bisect::all());
    let code = Code::new(&context, tags.len());
    for (number, &tag) in tags.iter().enumerate() {
        let pointer = code.parameter(number);
        let (_, load) = code.load(pointer, 32, &format!("l{number}"));
        let store = code.store(pointer, 32, number as u64);
        tagger.attach_tag(plan, Some(tag), load).unwrap();
        tagger.attach_tag(plan, Some(tag), store).unwrap();
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

#[test]
fn lowered_tags_scopes_and_both() {
    let (graph, _, tags) = runtime::tags(Policy::Rfc);
    assert_eq!(tags.len(), runtime::PATHS.len());
    for rules in [Rules::Union, Rules::UnionStrict] {
        let name = |what: &str| format!("runtime-{rules:?}-{what}");
        let oracle = Oracle::new(&graph, rules);
        let promised = by_rule(&oracle, &tags);

        let mut lowering = Lowering::new(Options::new());
        lowering.lower(&oracle, tags.iter().copied()).unwrap();
        let lowered = Oracle::new(lowering.graph(), Rules::Llvm);
        let pair = |a, b| lowered.may_alias(lowering.tag(a), lowering.tag(b));
        let expected: Vec<Vec<bool>> =
            tags.iter().map(|&a| tags.iter().map(|&b| pair(a, b)).collect()).collect();
        let by_tags = module_of(&name("lowered"), &lowering, &tags);
        assert_eq!(by_tags, expected);

        let scopes = Scopes::new("runtime", &oracle, &tags, None);
        let alone = ScopePlan { tags: &lowering, alone: true, scopes: &scopes, oracle: &oracle };
        assert_eq!(module_of(&name("scopes"), &alone, &tags), promised);

        let sources: Vec<_> = tags.iter().map(|&tag| lowering.tag(tag).unwrap()).collect();
        let told_apart = lowered.matrix(&sources);
        let scopes = Scopes::new("runtime", &oracle, &tags, Some(&told_apart));
        let both = ScopePlan { tags: &lowering, alone: false, scopes: &scopes, oracle: &oracle };
        assert_eq!(module_of(&name("both"), &both, &tags), promised);
        println!(
            "{rules:?}: of {} ordered pairs NoAlias {} by the rule, {} lowered; {} scopes beside",
            tags.len() * tags.len(),
            count(&promised),
            count(&by_tags),
            scopes.len()
        );
        assert!(count(&by_tags) * 10 > count(&promised) * 9);
    }
}

#[test]
fn tags_as_clang_has_them() {
    for policy in [Policy::Clang, Policy::ClangNew] {
        let (graph, _, tags) = runtime::tags(policy);
        let oracle = Oracle::new(&graph, Rules::Llvm);
        let answers = module_of(&format!("clang-{policy:?}"), &graph, &tags);
        assert_eq!(answers, by_rule(&oracle, &tags));
    }
}
