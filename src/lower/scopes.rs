//! Scopes: what the forest loses, said by `!alias.scope` and `!noalias`.
//!
//! An access with scope list `S` does not alias one whose `!noalias` list has
//! all of `S`. With one scope for each class of sources, all in one domain,
//! that expresses any relation, and it survives merging: LLVM then keeps both
//! scopes and what both lists have. Scopes and domain are named by strings, so
//! that inlining does not clone them.
//!
//! LLVM: `ScopedNoAliasAAResult`, `MDNode::getMostGenericAliasScope`.

use super::options::ScopeForm;
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

impl Scopes {
    /// Adds a batch of classes; `wanted` tells the pairs to speak of. Returns
    /// each class's scope.
    pub(super) fn add(
        &mut self,
        form: ScopeForm,
        relation: &Relation,
        classes: &[Scoped<'_>],
        wanted: impl Fn(usize, usize) -> bool,
    ) -> Vec<Option<u32>> {
        if form == ScopeForm::None {
            return vec![None; classes.len()];
        }
        let apart = |a: usize, b: usize| !relation.related(a, b) && wanted(a, b);
        let speaks =
            |a: usize| !classes[a].apart.is_empty() || (0..classes.len()).any(|b| apart(a, b));
        let mut numbers = vec![None; classes.len()];
        for (at, class) in classes.iter().enumerate() {
            if form == ScopeForm::All || speaks(at) {
                numbers[at] = Some(self.names.len() as u32);
                self.names.push(format!("{} {}", self.names.len(), class.name));
            }
        }
        for (a, class) in classes.iter().enumerate() {
            if numbers[a].is_none() {
                continue;
            }
            let mut list = vec![0; self.names.len().div_ceil(64)];
            let mut set = |scope: u32| list[scope as usize / 64] |= 1 << (scope % 64);
            class.apart.iter().for_each(|&scope| set(scope));
            for (b, &scope) in numbers.iter().enumerate() {
                if let Some(scope) = scope.filter(|_| apart(a, b)) {
                    set(scope);
                }
            }
            self.noalias.push(list);
        }
        numbers
    }
}
