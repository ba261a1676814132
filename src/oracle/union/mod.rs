//! Rules `union` and `union-strict`: every member of a union is followed, and
//! bytes decide.
//!
//! # Theory
//!
//! Two accesses may alias iff one of these holds: their roots differ; one is
//! whole and its access type an ancestor of the other's; one denotes no path;
//! or they *overlap*: a path q leads from one base type to an object of the
//! other access, and the bytes of some denoted path p of the one meet those of
//! some denoted path r of the other, moved by q. The first three are look-ups.
//! The rest of this module decides overlap without listing paths, elements or
//! bytes.
//!
//! **A path in brief.** All denoted paths have one collapsed offset, so a path
//! matters only by the arrays it crosses: the bytes are an interval at a fixed
//! start, repeated at the strides of the arrays, with the innermost array
//! cutting its last elements short. The cut leaves at most two such patterns:
//! the uncut elements, and the first cut one, which covers those after it. The
//! order of the strides does not matter, and equal ones add up.
//!
//! **Merging.** The traversals (`denoted`, `objects`) visit types in topological order, so all
//! ways to a type have arrived before any goes on. Ways to one place (a type
//! and an offset) merge: a way whose strides are among another's is dropped,
//! for the other's bytes include its own. Diamonds therefore cost what their
//! types cost. Objects (q) are sought only where their bytes may lie near p's.
//!
//! **Meeting.** Whether two patterns share a byte is an equation in integers,
//! decided in `stride` by division, Euclid's algorithm, and trials where more
//! than two strides remain.
//!
//! **Strict.** p and q choose the same field wherever both choose. So q ends at
//! a place on p's way, and the search for p carries along where that was; or q
//! goes on where p ends.
//!
//! **Old format.** Without sizes only the place where two paths part says
//! anything; see `inferred`.
//!
//! # Limits
//!
//! All loops are charged to a budget per query (`limits`), nothing recurses
//! with the depth of the types, and beyond a limit the answer is `MayAlias`.
//! Under `union-strict` that answer is checked against `union`, so that the
//! stricter rule never answers `MayAlias` where the other proves more.

mod access;
mod arena;
mod denoted;
mod generic;
mod inferred;
mod objects;
mod stride;
mod tables;
mod traversal;
mod types;

use access::Resolved;
use arena::{Link, PathArena};
use denoted::{AtObjects, Denoted, Prefix, Untracked, denoted};
use inferred::{Found, Paths, Search, Side};
use objects::{Objects, Witness};
use stride::{Pattern, Stride, UNBOUNDED};
use types::Types;

use super::access::Access;
use super::bytes::{ByteRange, Elements};
use super::clause::Clause;
use super::index::Index;
use super::limits::{Budget, Exhausted, STEPS};
use super::rule::{Candidates, Decision, Meeting, Rule};
use crate::graph::{Format, Graph, Tag, TagId};

/// Rules `union` and `union-strict`.
#[derive(Clone, Debug)]
pub(super) struct Union {
    strict: bool,
    engine: Engine,
}

impl Union {
    pub(super) fn new(strict: bool) -> Self {
        Union { strict, engine: Engine::default() }
    }
}

impl Rule for Union {
    fn add(&mut self, graph: &Graph, index: &mut Index, tag: TagId) -> bool {
        self.engine.add(graph, index, tag, self.strict)
    }

    fn decide(&self, graph: &Graph, index: &Index, a: TagId, b: TagId) -> Option<bool> {
        self.engine.decide_indexed(graph, index, (a, b), self.strict)
    }

    fn define(&self, graph: &Graph, _: &Index, pair: (Access, Access), steps: u32) -> Decision {
        self.engine.define(graph, pair, self.strict, steps)
    }

    /// Where rule `union-strict` proves more than `union`, shows what it does not
    /// count.
    fn explain(
        &self,
        graph: &Graph,
        index: &Index,
        pair: (Access, Access),
        steps: u32,
    ) -> Decision {
        let decision = self.define(graph, index, pair, steps);
        if self.strict && decision.clause.is_no_alias() {
            let union = self.engine.define(graph, pair, false, steps);
            if !union.clause.is_no_alias() {
                return Decision { clause: Clause::Parted, ..union };
            }
        }
        decision
    }

    fn candidates(&self, index: &Index, tag: TagId) -> Option<Candidates> {
        self.engine.candidates(index, tag)
    }

    fn most_generic(&self, graph: &Graph, _: &Index, a: TagId, b: TagId) -> Option<Tag> {
        self.engine.most_generic(graph, a, b)
    }

    fn is_well_formed(&self, graph: &Graph, tag: TagId) -> bool {
        self.engine.is_well_formed(graph, tag)
    }
}

/// What both rules know of the types that a graph holds.
#[derive(Clone, Default, Debug)]
struct Engine {
    types: Types,
    tables: tables::Tables,
}

impl Engine {
    /// Decides on two accesses, in so many steps of the search.
    fn define(
        &self,
        graph: &Graph,
        (a, b): (Access, Access),
        strict: bool,
        steps: u32,
    ) -> Decision {
        let decided = Decision::from;
        let (of_a, of_b) = match (self.resolve(graph, a), self.resolve(graph, b)) {
            (Ok(a), Ok(b)) => (a, b),
            // No tag is a plainer reason than a malformed one.
            (Err(a), Err(b)) => return decided(a.min(b)),
            (Err(clause), _) | (_, Err(clause)) => return decided(clause),
        };
        if a.tag == b.tag {
            return decided(Clause::SameTag);
        }
        let types = &self.types;
        let (access_a, access_b) = (types.get(of_a.access), types.get(of_b.access));
        if access_a.root != access_b.root {
            return decided(Clause::Roots);
        }
        let covers =
            |a: &Resolved, b: &Resolved| a.is_whole() && types.is_ancestor(a.access, b.access);
        if covers(&of_a, &of_b) || covers(&of_b, &of_a) {
            return decided(Clause::Generality);
        }
        let (format, format_b) = (self.format(&of_a), self.format(&of_b));
        if format != format_b {
            return decided(Clause::MixedFormats);
        }
        let overlap = |strict| match format {
            Format::New => self.sized(&of_a, &of_b, strict, steps),
            Format::Old => self.inferred(of_a, of_b, strict, steps),
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

    /// Reads an access, or says why nothing is known about it.
    fn resolve(&self, graph: &Graph, access: Access) -> Result<Resolved, Clause> {
        let tag = access.tag.ok_or(Clause::NoTag)?;
        if !graph.owns_tag(tag) {
            return Err(Clause::ForeignTag);
        }
        let tag = graph.tag(tag).map_err(|_| Clause::Malformed)?;
        let sound = |ty| self.types.index(ty).filter(|&ty| self.types.get(ty).sound);
        let (Some(base), Some(of_access)) = (sound(tag.base), sound(tag.access)) else {
            return Err(Clause::Malformed);
        };
        // A root has no format of its own.
        let formats = [base, of_access].map(|ty| self.types.get(ty).format);
        if let [Some(base), Some(access)] = formats
            && base != access
        {
            return Err(Clause::Malformed);
        }
        let size = access.size.or(tag.size).filter(|&size| size != 0 && size != u64::MAX);
        Ok(Resolved { base, access: of_access, offset: tag.offset, size })
    }

    /// The format of an access's types; a root has none of its own.
    fn format(&self, access: &Resolved) -> Format {
        let format = |ty| self.types.get(ty).format;
        format(access.access).or(format(access.base)).unwrap_or(Format::Old)
    }

    /// What a tag that can be resolved denotes: `None` if no path, else whether
    /// any of the paths holds a byte.
    fn denotes(&self, access: &Resolved) -> Option<bool> {
        let (mut arena, mut budget) = (PathArena::default(), Budget::new(STEPS));
        match self.format(access) {
            Format::New => {
                let paths =
                    denoted(&self.types, access, &Untracked, &mut arena, &mut budget).ok()?;
                (!paths.is_empty()).then(|| paths.iter().any(|path| path.bytes.is_some()))
            }
            Format::Old => {
                let denotes = Side::new(*access).denotes(&self.types, &mut budget).ok()?;
                denotes.then_some(true)
            }
        }
    }

    /// Whether a tag can be resolved, and denotes a path.
    fn is_well_formed(&self, graph: &Graph, tag: TagId) -> bool {
        self.resolve(graph, tag.into()).is_ok_and(|access| self.denotes(&access).is_some())
    }

    fn sized(
        &self,
        a: &Resolved,
        b: &Resolved,
        strict: bool,
        steps: u32,
    ) -> Result<Decision, Exhausted> {
        let (mut arena, mut budget) = (PathArena::default(), Budget::new(steps));
        let mut denote = |access| denoted(&self.types, access, &Untracked, &mut arena, &mut budget);
        let (of_a, of_b) = (denote(a)?, denote(b)?);
        if of_a.is_empty() || of_b.is_empty() {
            return Ok(Clause::Malformed.into());
        }
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let ((a, p), (b, r)) =
                if from_b { ((b, &of_b), (a, &of_a)) } else { ((a, &of_a), (b, &of_b)) };
            let mut objects = Objects::new(&self.types, a.base, (*b, r), &mut budget)?;
            let witness = if strict {
                self.search_along(a, &mut objects, &mut arena, &mut budget)?
            } else {
                let start = (Prefix { at: 0, strides: Vec::new() }, Link::START);
                objects.search(p, (a.base, UNBOUNDED), start, &mut arena, &mut budget)?
            };
            related |= objects.reach.contains_key(&a.base);
            let meets = witness.is_some();
            let meeting = witness.or(objects.apart.take());
            let meeting = meeting.map(|witness| self.meeting(from_b, a, witness, &arena));
            if meets {
                return Ok(Decision { clause: Clause::Overlap, meeting });
            }
            if objects.unsure {
                return Err(Exhausted);
            }
            apart = apart.or(meeting);
        }
        Ok(Decision {
            clause: if related { Clause::Apart } else { Clause::Unrelated },
            meeting: apart,
        })
    }

    /// Compares each p with the objects that lie on its way or beyond its end.
    fn search_along(
        &self,
        a: &Resolved,
        objects: &mut Objects<'_>,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<Option<Witness>, Exhausted> {
        let tracked = AtObjects(&self.types, objects.b);
        for p in denoted(&self.types, a, &tracked, arena, budget)? {
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
        steps: u32,
    ) -> Result<Decision, Exhausted> {
        let (mut arena, mut budget) = (PathArena::default(), Budget::new(steps));
        let (mut of_a, mut of_b) = (Side::new(a), Side::new(b));
        let mut denotes = |side: &mut Side| side.denotes(&self.types, &mut budget);
        if !denotes(&mut of_a)? || !denotes(&mut of_b)? {
            return Ok(Clause::Malformed.into());
        }
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let sides = if from_b { (&mut of_b, &mut of_a) } else { (&mut of_a, &mut of_b) };
            let outer = sides.0.access;
            let search = Search::new(&self.types, sides, strict);
            let (meets, paths) = match search.run(&mut arena, &mut budget)? {
                Found::Meet(paths) => (true, Some(paths)),
                Found::Apart(paths) => (false, paths),
                Found::Nothing => continue,
            };
            related = true;
            let links = paths.map(|Paths { p, q, r }| [p, q, r]);
            let meeting = links.map(|links| self.paths(from_b, &outer, links, &arena));
            if meets {
                return Ok(Decision { clause: Clause::Overlap, meeting });
            }
            apart = apart.or(meeting);
        }
        Ok(Decision {
            clause: if related { Clause::Apart } else { Clause::Unrelated },
            meeting: apart,
        })
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
        let id = |ty| self.types.get(ty).id;
        let [p, q, r] = links
            .map(|link| arena.path(link).into_iter().map(|(ty, field)| (id(ty), field)).collect());
        Meeting { from_b, base: id(outer.base), p, q, r, bytes: None }
    }
}

fn byte_range(pattern: &Pattern) -> ByteRange {
    let end = pattern.start + pattern.len;
    let elements = |&Stride { step, last }: &Stride| {
        let count = last + 1;
        let bounded = count.saturating_mul(step) < UNBOUNDED;
        Elements {
            stride: u64::try_from(step).unwrap_or(u64::MAX),
            count: u64::try_from(count).ok().filter(|_| bounded),
        }
    };
    ByteRange {
        start: u64::try_from(pattern.start).unwrap_or(u64::MAX),
        end: u64::try_from(end).ok(),
        repeats: pattern.strides.iter().map(elements).collect(),
    }
}
