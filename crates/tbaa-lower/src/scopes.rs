//! Scopes: what the forest loses, said by `!alias.scope` and `!noalias`.
//!
//! An access with scope list `S` does not alias one whose `!noalias` list has
//! all of `S`. With one scope for each class of sources, all in one domain,
//! that expresses any relation, and it survives merging: LLVM then keeps both
//! scopes and what both lists have. Scopes and domain are named by strings, so
//! that inlining does not clone them.
//!
//! LLVM: `ScopedNoAliasAAResult`, `MDNode::getMostGenericAliasScope`.

use super::relation::{Relation, ones};

/// The scopes of one lowering.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Scopes {
    pub(super) names: Vec<String>,
    /// For each scope, those that an access with it does not alias.
    pub(super) noalias: Vec<Vec<u64>>,
}

/// What an access bears: its scope, and those that it does not alias. Both are
/// indices into [`Lowering::scope_names`](super::Lowering::scope_names).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AccessScopes<'l> {
    /// The one scope of its `!alias.scope` list.
    pub scope: u32,
    pub(super) noalias: &'l [u64],
}

impl<'l> AccessScopes<'l> {
    /// Returns the scopes of its `!noalias` list, in ascending order.
    pub fn noalias(&self) -> impl Iterator<Item = u32> + use<'l> {
        ones(self.noalias.iter().copied()).map(|scope| scope as u32)
    }
}

/// What a class of newcomers is to the scopes.
pub(super) struct Scoped<'c> {
    /// The name of its scope.
    pub(super) name: String,
    /// The scopes that it does not alias among those there.
    pub(super) apart: &'c [u32],
}

/// Calls back with pairs of classes.
type EachPair<'p> = &'p dyn Fn(&mut dyn FnMut(usize, usize));

/// Which pairs of a batch's classes the scopes may speak of.
pub(super) enum Wanted<'p> {
    /// All.
    All,
    /// Those that the forest does not tell apart. It calls back with each, once
    /// at least.
    Lost(EachPair<'p>),
}

impl Scopes {
    /// Adds a batch of classes, of which `known` are those that the relation
    /// knows. Returns each class's scope; the lists of all take `most` bytes at
    /// most, and the classes after them have none.
    pub(super) fn add(
        &mut self,
        relation: &Relation,
        classes: &[Scoped<'_>],
        known: &[bool],
        wanted: &Wanted<'_>,
        most: usize,
    ) -> Vec<Option<u32>> {
        let apart = |a: usize, b: usize| known[a] && known[b] && !relation.related(a, b);
        let mut speaks: Vec<bool> = classes.iter().map(|class| !class.apart.is_empty()).collect();
        match wanted {
            Wanted::All => speaks.fill(true),
            Wanted::Lost(each) => each(&mut |a, b| {
                if !(speaks[a] && speaks[b]) && apart(a, b) {
                    (speaks[a], speaks[b]) = (true, true);
                }
            }),
        }
        let mut numbers = vec![None; classes.len()];
        for (at, class) in classes.iter().enumerate().filter(|&(at, _)| speaks[at]) {
            let scopes = self.names.len() + 1;
            if scopes.saturating_mul(scopes) > most.saturating_mul(8) {
                break;
            }
            numbers[at] = Some(scopes as u32 - 1);
            self.names.push(format!("{} {}", scopes - 1, class.name));
        }
        let words = self.names.len().div_ceil(64);
        self.noalias.resize_with(self.names.len(), || vec![0; words]);
        let put = |list: &mut [u64], scope: u32, on: bool| {
            let (word, bit) = (&mut list[scope as usize / 64], 1 << (scope % 64));
            *word = if on { *word | bit } else { *word & !bit };
        };
        let numbered = || numbers.iter().enumerate().filter_map(|(at, &scope)| Some((at, scope?)));
        match wanted {
            Wanted::All => {
                let mut all = vec![0; words];
                numbered().filter(|&(at, _)| known[at]).for_each(|(_, it)| put(&mut all, it, true));
                for (at, scope) in numbered().filter(|&(at, _)| known[at]) {
                    let list = &mut self.noalias[scope as usize];
                    list.copy_from_slice(&all);
                    let near = relation.near(at).filter_map(|near| numbers[near]);
                    near.for_each(|near| put(list, near, false));
                }
            }
            Wanted::Lost(each) => each(&mut |a, b| {
                if let (Some(x), Some(y), true) = (numbers[a], numbers[b], apart(a, b)) {
                    put(&mut self.noalias[x as usize], y, true);
                    put(&mut self.noalias[y as usize], x, true);
                }
            }),
        }
        for (at, scope) in numbered() {
            let list = &mut self.noalias[scope as usize];
            classes[at].apart.iter().for_each(|&scope| put(list, scope, true));
        }
        numbers
    }
}
