//! Caches the alias answers of an [`Oracle`] during one call of `Lowering::lower`.
//!
//! A pair of tags that the oracle's tables do not decide needs a search, which may take
//! milliseconds. So all searches together have a limit of steps. Beyond the limit, the answer for a
//! new pair that needs a search is `MayAlias`. Earlier answers never change.

use std::borrow::Borrow;
use std::cell::RefCell;

use super::source::Key;
use tbaa::parts::table::HashMap;
use tbaa::{Graph, Oracle, TagId};

/// The largest number of cached answers, of about 60 bytes each. A full cache ends all searches.
const MAX_ANSWERS: usize = 1 << 21;

pub(super) struct Answers<'o, G> {
    pub(super) oracle: &'o Oracle<G>,
    cache: RefCell<Cache>,
}

struct Cache {
    /// The number of steps that further searches may take.
    left: u64,
    /// True if some pair counts as aliasing because no steps were left.
    gave_up: bool,
    answers: HashMap<(Key, Key), bool>,
}

impl<'o, G: Borrow<Graph>> Answers<'o, G> {
    pub(super) fn new(oracle: &'o Oracle<G>) -> Answers<'o, G> {
        let (left, answers) = (oracle.steps_to_compare(), HashMap::default());
        Answers { oracle, cache: RefCell::new(Cache { left, gave_up: false, answers }) }
    }

    pub(super) fn may_alias(&self, a: Key, b: Key) -> bool {
        let ask = |left: &mut u64| self.oracle.may_alias_within(a.access(), b.access(), left);
        if let Some(decided) = ask(&mut 0) {
            return decided;
        }
        let cache = &mut *self.cache.borrow_mut();
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = cache.answers.get(&pair) {
            return known;
        }
        if cache.answers.len() >= MAX_ANSWERS {
            cache.left = 0;
        }
        let Some(may) = ask(&mut cache.left) else {
            cache.gave_up = true;
            return true;
        };
        cache.answers.insert(pair, may);
        may
    }

    pub(super) fn gave_up(&self) -> bool {
        self.cache.borrow().gave_up
    }

    /// Returns a function that decides whether two accesses without sizes of their own may alias.
    pub(super) fn tags(&self) -> impl Fn(TagId, TagId) -> bool {
        |a, b| self.may_alias(Key { tag: a, size: None }, Key { tag: b, size: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tbaa::{AliasRule, Graph, Size};

    /// When no steps are left, earlier answers stay, and other pairs that need a search may alias.
    #[test]
    fn beyond_the_steps() {
        let mut graph = Graph::new();
        let mut b = graph.builder();
        let root = b.root("R").unwrap();
        let int = b.scalar_type("int", root).unwrap();
        let four = b.struct_type("four", &[(int, 0), (int, 4), (int, 8), (int, 12)]).unwrap();
        let tags = [0, 8, 12].map(|at| b.struct_tag(four, int, at).unwrap());
        let oracle = Oracle::new(&graph, AliasRule::Union);
        // The oracle's tables do not decide about an access that extends past its field.
        let [x, y, z] = [(0, Some(Size::Bytes(5))), (1, None), (2, None)]
            .map(|(at, size)| Key { tag: tags[at], size });
        let answers = Answers::new(&oracle);
        answers.cache.borrow_mut().left = 1;
        assert!(!answers.may_alias(x, y) && !answers.gave_up());
        assert!(!oracle.may_alias(x.access(), z.access()) && answers.may_alias(x, z));
        assert!(answers.gave_up());
        assert!(!answers.may_alias(y, x) && !answers.may_alias(y, z));
    }
}
