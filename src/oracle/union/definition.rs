//! The definition of both rules: the paths are followed, and their bytes
//! compared.

use std::cell::Cell;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::denoted::{AtObjects, Denoted, Prefix, Untracked, denoted};
use super::inferred::{Found, Paths, Search, SearchedAccess};
use super::objects::{Objects, Witness};
use super::stride::{Pattern, Stride, UNBOUNDED};
use super::types::Types;
use crate::graph::{Format, Graph};
use crate::oracle::access::Access;
use crate::oracle::bytes::{ByteRange, Elements};
use crate::oracle::clause::Clause;
use crate::oracle::limits::{Budget, Exhausted};
use crate::oracle::rule::{Decision, Meeting};

/// The definition, on the types that a graph holds.
pub(super) struct UnionDefinition<'d> {
    pub(super) types: &'d Types,
    /// Steps of one search.
    pub(super) steps: u32,
    /// Steps that decisions have taken.
    pub(super) spent: Cell<u32>,
}

impl UnionDefinition<'_> {
    /// Decides on two accesses.
    pub(super) fn decide(&self, graph: &Graph, pair: (Access, Access), strict: bool) -> Decision {
        let decision = self.follow(graph, pair, strict);
        Decision { steps: self.spent.get(), ..decision }
    }

    fn follow(&self, graph: &Graph, (a, b): (Access, Access), strict: bool) -> Decision {
        let decided = Decision::from;
        let (of_a, of_b) =
            match (Resolved::new(self.types, graph, a), Resolved::new(self.types, graph, b)) {
                (Ok(a), Ok(b)) => (a, b),
                // No tag is a plainer reason than a malformed one.
                (Err(a), Err(b)) => return decided(a.min(b)),
                (Err(clause), _) | (_, Err(clause)) => return decided(clause),
            };
        if a.tag == b.tag {
            return decided(Clause::SameTag);
        }
        let types = self.types;
        let (access_a, access_b) = (types.get(of_a.access), types.get(of_b.access));
        if access_a.root != access_b.root {
            return decided(Clause::Roots);
        }
        let covers =
            |a: &Resolved, b: &Resolved| a.is_whole() && types.is_ancestor(a.access, b.access);
        if covers(&of_a, &of_b) || covers(&of_b, &of_a) {
            return decided(Clause::Generality);
        }
        let (format, format_b) = (of_a.format(types), of_b.format(types));
        if format != format_b {
            return decided(Clause::MixedFormats);
        }
        let overlap = |strict| {
            let mut budget = Budget::new(self.steps);
            let found = match format {
                Format::New => self.sized(&of_a, &of_b, strict, &mut budget),
                Format::Old => self.inferred(of_a, of_b, strict, &mut budget),
            };
            self.spent.set(self.spent.get() + self.steps - budget.left());
            found
        };
        match overlap(strict) {
            Ok(decision) => decision,
            // The search for q alone may be the shorter one.
            Err(Exhausted) if strict => match overlap(false) {
                Ok(decision) if decision.clause.is_no_alias() => decision,
                _ => decided(Clause::Limit),
            },
            Err(Exhausted) => decided(Clause::Limit),
        }
    }

    /// What a tag that can be resolved denotes: `None` if no path, else whether
    /// any of the paths holds a byte.
    pub(super) fn denotes(&self, access: &Resolved) -> Result<Option<bool>, Exhausted> {
        let (mut arena, mut budget) = (PathArena::default(), Budget::new(self.steps));
        match access.format(self.types) {
            Format::New => {
                let paths = denoted(self.types, access, &Untracked, &mut arena, &mut budget)?;
                Ok((!paths.is_empty()).then(|| paths.iter().any(|path| path.bytes.is_some())))
            }
            Format::Old => {
                let denotes = SearchedAccess::new(*access).denotes(self.types, &mut budget)?;
                Ok(denotes.then_some(true))
            }
        }
    }

    fn sized(
        &self,
        a: &Resolved,
        b: &Resolved,
        strict: bool,
        budget: &mut Budget,
    ) -> Result<Decision, Exhausted> {
        let mut arena = PathArena::default();
        let mut denote = |access| denoted(self.types, access, &Untracked, &mut arena, budget);
        let (of_a, of_b) = (denote(a)?, denote(b)?);
        if of_a.is_empty() || of_b.is_empty() {
            return Ok(Clause::Malformed.into());
        }
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let ((a, p), (b, r)) =
                if from_b { ((b, &of_b), (a, &of_a)) } else { ((a, &of_a), (b, &of_b)) };
            let mut objects = Objects::new(self.types, a.base, (*b, r), budget)?;
            let witness = if strict {
                self.search_along(a, &mut objects, &mut arena, budget)?
            } else {
                let whole = Prefix { ty: a.base, at: 0, strides: Vec::new() };
                let start = (whole, Link::START);
                objects.search(p, (a.base, UNBOUNDED), start, &mut arena, budget)?
            };
            related |= objects.reach.contains_key(&a.base);
            let meets = witness.is_some();
            let meeting = witness.or(objects.apart.take());
            let meeting = meeting.map(|witness| self.meeting(from_b, a, witness, &arena));
            if meets {
                return Ok(Decision { meeting, ..Clause::Overlap.into() });
            }
            if objects.unsure {
                return Err(Exhausted);
            }
            apart = apart.or(meeting);
        }
        let clause = if related { Clause::Apart } else { Clause::Unrelated };
        Ok(Decision { meeting: apart, ..clause.into() })
    }

    /// Compares each p with the objects that lie on its way or beyond its end.
    pub(super) fn search_along(
        &self,
        a: &Resolved,
        objects: &mut Objects<'_>,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        let tracked = AtObjects(self.types, objects.b);
        for p in denoted(self.types, a, &tracked, arena, budget)? {
            let only: &[Denoted] = std::slice::from_ref(&p);
            let found = match &p.prefix {
                Some((prefix, link)) => objects.compare(only, prefix, *link, budget)?,
                None => {
                    let start = (p.end.clone(), p.link);
                    objects.search(only, (a.access, p.slot), start, arena, budget)?
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn inferred(
        &self,
        a: Resolved,
        b: Resolved,
        strict: bool,
        budget: &mut Budget,
    ) -> Result<Decision, Exhausted> {
        let mut arena = PathArena::default();
        let (mut of_a, mut of_b) = (SearchedAccess::new(a), SearchedAccess::new(b));
        let mut denotes = |side: &mut SearchedAccess| side.denotes(self.types, budget);
        if !denotes(&mut of_a)? || !denotes(&mut of_b)? {
            return Ok(Clause::Malformed.into());
        }
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let sides = if from_b { (&mut of_b, &mut of_a) } else { (&mut of_a, &mut of_b) };
            let outer = sides.0.access;
            let mut search = Search::new(self.types, sides, strict);
            let (meets, paths) = match search.run(&mut arena, budget)? {
                Found::Meet(paths) => (true, Some(paths)),
                Found::Apart(paths) => (false, paths),
                Found::Nothing => continue,
            };
            related = true;
            let links = paths.map(|Paths { p, q, r }| [p, q, r]);
            let meeting = links.map(|links| self.paths(from_b, &outer, links, &arena));
            if meets {
                return Ok(Decision { meeting, ..Clause::Overlap.into() });
            }
            apart = apart.or(meeting);
        }
        let clause = if related { Clause::Apart } else { Clause::Unrelated };
        Ok(Decision { meeting: apart, ..clause.into() })
    }

    fn meeting(
        &self,
        from_b: bool,
        outer: &Resolved,
        found: Witness,
        arena: &PathArena,
    ) -> Meeting {
        let Witness { p, q, r, p_bytes, r_bytes } = found;
        let bytes = Some((byte_range(&p_bytes), byte_range(&r_bytes)));
        Meeting { bytes, ..self.paths(from_b, outer, [p, q, r], arena) }
    }

    fn paths(
        &self,
        from_b: bool,
        outer: &Resolved,
        links: [Link; 3],
        arena: &PathArena,
    ) -> Meeting {
        let id = |ty| self.types.get(ty).node;
        let [p, q, r] = links
            .map(|link| arena.path(link).into_iter().map(|(ty, field)| (id(ty), field)).collect());
        Meeting { from_b, base: id(outer.base), p, q, r, bytes: None }
    }
}

pub(super) fn byte_range(pattern: &Pattern) -> ByteRange {
    let end = pattern.start + pattern.len;
    ByteRange {
        start: u64::try_from(pattern.start).unwrap_or(u64::MAX),
        end: u64::try_from(end).ok(),
        repeats: pattern.strides.iter().map(elements).collect(),
    }
}

fn elements(&Stride { step, last }: &Stride) -> Elements {
    let count = last + 1;
    // Of an array without end, some elements may have been cut.
    let bounded = count.saturating_mul(step) < UNBOUNDED / 2;
    Elements {
        stride: u64::try_from(step).unwrap_or(u64::MAX),
        count: u64::try_from(count).ok().filter(|_| bounded),
    }
}
