//! Shrinks random universes (see [`Universe`]) that fail a test.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Rng;
use super::universe::{Taste, Type, Universe, random};

/// Runs `test` on random universes in both formats. Shrinks the first one on which `test` panics,
/// and panics with its metadata, which belongs in a file under `specs/regressions`.
pub fn check(taste: Taste, cases: usize, seed: usize, mut test: impl FnMut(&Universe)) {
    let mut fails = |u: &Universe| catch_unwind(AssertUnwindSafe(|| test(u))).is_err();
    let mut rng = Rng(seed as u64);
    for case in 0..cases {
        let mut u = random(&mut rng, case % 2 == 0, taste);
        if fails(&u) {
            loop {
                let Some(less) = smaller(&u).find(&mut fails) else { break };
                u = less;
            }
            // The test fails once more, so that its message is printed last.
            assert!(fails(&u), "seed {seed}: it does not fail again");
            panic!("seed {seed}: keep it as a file under specs/regressions:\n\n{u:?}");
        }
    }
}

/// Returns copies of `u`, each without one tag, one field or one unused type.
fn smaller(u: &Universe) -> impl Iterator<Item = Universe> {
    let without = |change: &dyn Fn(&mut Universe)| {
        let mut less = u.clone();
        change(&mut less);
        less
    };
    let tags = (0..u.tags.len()).map(move |at| without(&|less| _ = less.tags.remove(at)));
    // An aggregate keeps at least one field. Without fields, an old-format one would be a root.
    let fields = (0..u.types.len()).filter(|&ty| u.types[ty].fields.len() > 1);
    let fields = fields.flat_map(move |ty| (0..u.types[ty].fields.len()).map(move |at| (ty, at)));
    let fields = fields.map(move |(ty, at)| without(&|less| _ = less.types[ty].fields.remove(at)));
    let needed = |ty: usize| {
        let by_type =
            |user: &Type| user.parent == Some(ty) || user.fields.iter().any(|field| field.ty == ty);
        u.types.iter().any(by_type) || u.tags.iter().any(|tag| tag.base == ty || tag.access == ty)
    };
    let types = (0..u.types.len()).filter(move |&ty| !needed(ty));
    tags.chain(fields).chain(types.map(move |ty| without(&|less| less.remove(ty))))
}
