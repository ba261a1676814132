//! Compares a lowering (tags and scopes for LLVM) with the rule on the original accesses.

use std::borrow::Borrow;

use tbaa::{Access, AliasRule, Graph, Oracle};
use tbaa_lower::Lowering;

/// Returns whether the scope of `a` is in the `noalias` list of `b`.
fn apart_by_scopes(lowering: &Lowering, a: Access, b: Access) -> bool {
    let (Some(a), Some(b)) = (lowering.scopes_of(a), lowering.scopes_of(b)) else { return false };
    b.noalias().any(|scope| scope == a.scope)
}

/// Checks that LLVM answers `MayAlias`, by tags and by scopes, wherever the rule does, and that the
/// lowering reports each lost `NoAlias`. Returns the number of pairs, the number of `NoAlias` pairs
/// by the rule, and how many of these are `MayAlias` by LLVM's rule on the lowered tags.
pub fn check<G: Borrow<Graph>>(what: &str, source: &Oracle<G>, lowering: &Lowering) -> [u64; 3] {
    let llvm = Oracle::new(lowering.graph(), AliasRule::Llvm);
    let accesses: Vec<Access> = lowering.sources().collect();
    let (mut pairs, mut no_alias, mut lost) = (0, 0, 0);
    let mut lost_pairs = lowering.lost_pairs(source);
    for (i, &a) in accesses.iter().enumerate() {
        for &b in &accesses[i + 1..] {
            let may = source.may_alias(a, b);
            let lowered = llvm.may_alias(lowering.tag(a), lowering.tag(b));
            assert!(lowered || !may, "{what}: {a:?} and {b:?}: {}", source.explain(a, b));
            let scoped = apart_by_scopes(lowering, a, b) || apart_by_scopes(lowering, b, a);
            assert!(!scoped || !may, "{what}: scopes of {a:?} and {b:?}");
            // With the option `lineage`, scopes need not separate every `NoAlias` pair.
            let grown = lowering.options().lineage.is_some();
            assert!(scoped == (lowering.options().scopes && !may) || grown, "{what}");
            pairs += 1;
            no_alias += u64::from(!may);
            if lowered && !may {
                lost += 1;
                assert_eq!(lost_pairs.next(), Some((a, b)), "{what}");
            }
        }
    }
    assert_eq!(lost_pairs.next(), None, "{what}");
    let loss = lowering.lost();
    assert_eq!((loss.no_alias, loss.pairs), (no_alias, lost), "{what}");
    assert_eq!(lowering.check(source), [], "{what}");
    for &access in &accesses {
        let why = lowering.why(access).unwrap();
        assert_eq!(why.tag, lowering.tag(access));
        assert_eq!(why.tag.is_none(), why.node.is_none(), "{what}: {why:?}");
        let immutable = access.tag.is_some_and(|tag| source.is_constant(tag));
        assert!(why.tag.is_none() || llvm.is_constant(why.tag) == immutable, "{what}");
    }
    [pairs, no_alias, lost]
}
