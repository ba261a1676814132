//! `!alias.scope` and `!noalias` lists that express the answers of rule `union`; and `Bisect`.

use pretty_assertions::assert_eq;
use tbaa::{AliasRule, Format, Graph, Oracle, TagId};
use tbaa_lower::emit::{Bisect, Emitter, Lowered, ScopeNames, TextSink};
use tbaa_lower::{Lowering, Options};

use tbaa_tests::Rng;
use tbaa_tests::random::{self, Shape, Universe};

/// Like LLVM's `ScopedNoAliasAAResult::mayAliasInScopes`, for one domain.
fn may_alias(a: &Option<ScopeNames<'_>>, b: &Option<ScopeNames<'_>>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return true };
    assert_eq!(a.domain, b.domain);
    let apart = |a: &ScopeNames<'_>, b: &ScopeNames<'_>| {
        !a.own.is_empty() && a.own.iter().all(|scope| b.noalias.contains(scope))
    };
    !apart(a, b) && !apart(b, a)
}

fn lower(oracle: &Oracle<&Graph>, tags: &[TagId]) -> Lowering {
    let mut lowering = Lowering::new(Options::new().lineage("my \"JIT\"").scopes());
    lowering.lower(oracle, tags).unwrap();
    lowering
}

fn graph(seed: u64) -> Graph {
    let format = if seed.is_multiple_of(2) { Format::Old } else { Format::New };
    random::graph(&mut Rng(seed), &Universe { format, structs: 8, tags: 50, shape: Shape::Any })
}

#[test]
fn scopes_say_what_the_rule_says() {
    for seed in 0..20 {
        let graph = graph(seed);
        let tags: Vec<_> = graph.tags().collect();
        let oracle = Oracle::new(&graph, AliasRule::Union);
        let lowering = lower(&oracle, &tags);
        let scopes = lowering.scopes();
        for &a in &tags {
            for &b in &tags {
                let may = oracle.may_alias(a, b);
                assert_eq!(may_alias(&scopes.of(a), &scopes.of(b)), may, "{seed}");
            }
            let call = Some(scopes.of_call(&oracle, &[a]));
            for &b in &tags {
                assert_eq!(may_alias(&call, &scopes.of(b)), oracle.may_alias(a, b), "{seed}");
            }
        }
        let call = scopes.of_call(&oracle, &tags);
        assert_eq!(call.noalias, Vec::<&str>::new());
        assert_eq!(scopes.of_call(&oracle, &[] as &[TagId]).noalias.len(), scopes.len());
    }
}

/// Scopes for the first tags stay correct when later tags are added.
#[test]
fn scopes_of_a_graph_that_grows() {
    let mut said = 0;
    for seed in 0..20 {
        let graph = graph(seed);
        let tags: Vec<_> = graph.tags().collect();
        let oracle = Oracle::new(&graph, AliasRule::Union);
        let first = &tags[..tags.len() / 2];
        let (early, mut late) = (lower(&oracle, first), lower(&oracle, first));
        late.lower(&oracle, &tags).unwrap();
        for &a in &tags {
            for &b in &tags {
                let may = may_alias(&early.scopes().of(a), &late.scopes().of(b));
                assert!(may || !oracle.may_alias(a, b), "{seed}");
                said += usize::from(!may);
            }
        }
    }
    assert!(said > 1000, "{said}");
}

#[test]
fn lists_are_emitted_once() {
    let mut graph = Graph::new();
    let mut b = graph.builder();
    let root = b.root("R").unwrap();
    let mut tag = |name: &str| -> TagId {
        let ty = b.scalar_type(name, root).unwrap();
        b.struct_tag(ty, ty, 0).unwrap()
    };
    let tags = [tag("a"), tag("b"), tag("c")];
    let oracle = Oracle::new(&graph, AliasRule::Union);
    let lowering = lower(&oracle, &tags);
    let plan = Lowered::new(&lowering, &oracle).scopes_alone();
    let mut emitter = Emitter::new(TextSink::default());
    let nodes = emitter.access(&plan, Some(tags[0])).unwrap();
    assert_eq!((nodes.tag, nodes.alias_scope, nodes.noalias), (None, Some(2), Some(5)));
    let domain = lowering.scope_domain().replace('"', "\\22");
    assert_eq!(
        emitter.sink_mut().take(),
        format!(
            "!0 = !{{!\"{domain}\"}}\n!1 = !{{!\"0 a\", !0}}\n!2 = !{{!1}}\n\
             !3 = !{{!\"1 b\", !0}}\n!4 = !{{!\"2 c\", !0}}\n!5 = !{{!3, !4}}\n"
        )
    );
    let nodes = emitter.call(&plan, &tags[..1]).unwrap();
    assert_eq!((nodes.tag, nodes.alias_scope, nodes.noalias), (None, None, Some(5)));
    assert_eq!(emitter.sink_mut().take(), "");

    let plan = Lowered::new(&lowering, &oracle);
    let nodes = emitter.access(&plan, Some(tags[1])).unwrap();
    assert!(nodes.alias_scope.is_some() && nodes.tag.is_some());
    assert_eq!(emitter.access(&plan, None::<TagId>).unwrap(), Default::default());
}

#[test]
fn bisection() {
    let mut all = Bisect::parse("").unwrap();
    assert!((0..100).all(|_| all.keep("")) && all.asked() == 100 && !all.is_at_limit());
    let mut none = Bisect::parse("0").unwrap();
    assert!(!none.keep(""));
    let mut three = Bisect::parse("3").unwrap();
    let kept: Vec<_> = (0..5).map(|_| (three.keep(""), three.is_at_limit())).collect();
    let (yes, no) = ((true, false), (false, false));
    assert_eq!(kept, [yes, yes, (true, true), no, no]);

    // Each binary digit in front of the pattern about halves the number of names that are kept.
    let names: Vec<_> = (0..4096).map(|n| format!("f {n}")).collect();
    let kept = |pattern: &str| {
        let mut bisect = Bisect::parse(&format!("hash:{pattern}")).unwrap();
        names.iter().filter(|name| bisect.keep(name)).count()
    };
    assert_eq!(kept(""), 4096);
    let (mut pattern, mut left) = (String::new(), 4096);
    while left > 1 {
        let halves = ["0", "1"].map(|digit| kept(&format!("{digit}{pattern}")));
        assert_eq!(halves[0] + halves[1], left);
        assert!(left < 64 || halves.iter().all(|&half| half > left / 4), "{halves:?} of {left}");
        let digit = usize::from(halves[1] > 0);
        (pattern, left) = (format!("{digit}{pattern}"), halves[digit]);
    }
    // The hash is the same on every machine and in every version.
    assert!(Bisect::parse("hash:1010110111101001").unwrap().keep("f 0"));

    for wrong in ["x", "-1", "hash:2", "hash", &format!("hash:{}", "0".repeat(65))] {
        let error = Bisect::parse(wrong).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("TBAA_BISECT: {wrong:?} is no setting; give")),
            "{error}"
        );
    }
}
