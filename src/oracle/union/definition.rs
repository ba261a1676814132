//! The definition of rules `union` and `union-strict`. p is a path from the base type of one access
//! (the *outer*) to its access type. q leads from the same base type to an object that has the base
//! type of the other access (the *inner*). r leads from this object to the inner access type.

use std::borrow::Cow;

use super::access::Resolved;
use super::arena::{Link, PathArena};
use super::bytes::{inside, uncut};
use super::clear::{is_within, passes};
use super::denoted::{Denoted, Leaving, Left, Object, denoted, on_clear_walk, others};
use super::inferred::{self, Containing, Denoted as Inferred, Found, Paths, Search};
use super::objects::{Objects, Witness};
use super::stride::{Pattern, add_stride};
use crate::extent::UNBOUNDED;
use crate::graph::Format;
use crate::oracle::clause::Clause;
use crate::oracle::explain::{ByteRange, Elements};
use crate::oracle::limits::{Budget, Exhausted, STEPS, STORED_PATHS};
use crate::oracle::rule::{Decision, Meeting};
use crate::oracle::types::{Stride, Types, elements, slot_of};

/// The paths of a tag. There is at least one.
#[derive(Clone, Debug)]
pub(super) enum Denotation {
    Sized(Box<[Denoted]>),
    Inferred(Inferred),
    /// The paths are too many to store, and are computed again for each query.
    Large,
}

impl Denotation {
    /// Computes the paths of a tag, or `None` if there are none. Also returns the number of steps.
    pub(super) fn new(
        types: &Types,
        access: &Resolved,
    ) -> (Result<Option<Denotation>, Exhausted>, u32) {
        let budget = &mut Budget::new(STEPS);
        let found = match access.format(types) {
            Format::New => {
                let paths = denoted(types, access, None, &mut PathArena::new(false), budget);
                let some = |paths: Vec<_>| (!paths.is_empty()).then(|| paths.into());
                paths.map(|paths| some(paths).map(Denotation::Sized))
            }
            Format::Old => {
                let places = Inferred::new(types, access, budget);
                places.map(|places| places.map(Denotation::Inferred))
            }
        };
        (found, STEPS - budget.left())
    }

    /// Drops the paths if they are too many to store.
    pub(super) fn kept(self) -> Denotation {
        let places = match &self {
            Denotation::Sized(paths) => paths.len(),
            Denotation::Inferred(paths) => paths.len(),
            Denotation::Large => 0,
        };
        if places > STORED_PATHS { Denotation::Large } else { self }
    }
}

/// An access and its tag's paths. `None` means one path, with fields that no other fields overlap.
pub(super) type Side<'d> = (Resolved, Option<&'d Denotation>);

type Sides<'d> = (Side<'d>, Side<'d>);

/// A path p of the outer access, and its comparison with the inner access.
type Seen = (Link, Witness);

/// The definition of `union` or `union-strict`, for the types of one graph.
#[derive(Clone, Copy)]
pub(super) struct UnionDefinition<'d> {
    pub(super) types: &'d Types,
    /// True if the answer must contain the paths.
    pub(super) explained: bool,
    pub(super) strict: bool,
}

impl UnionDefinition<'_> {
    /// Decides without paths, if possible. The two accesses must have different tags.
    pub(super) fn by_tags(&self, a: &Resolved, b: &Resolved) -> Option<Clause> {
        let types = self.types;
        let covers =
            |a: &Resolved, b: &Resolved| a.is_whole() && types.is_ancestor(a.access, b.access);
        if types.get(a.access).root != types.get(b.access).root {
            Some(Clause::Roots)
        } else if covers(a, b) || covers(b, a) {
            Some(Clause::Generality)
        } else if a.format(types) != b.format(types) {
            Some(Clause::MixedFormats)
        } else {
            (a.leaves(types) || b.leaves(types)).then_some(Clause::Leaves)
        }
    }

    /// Decides by paths. Both accesses must have at least one path.
    pub(super) fn by_paths(&self, sides: Sides<'_>) -> Decision {
        if let Some(may) = self.at_once(sides).filter(|_| !self.explained) {
            return if may { Clause::Overlap } else { Clause::Apart }.into();
        }
        let format = sides.0.0.format(self.types);
        let mut steps = 0;
        let mut overlap = |strict| {
            let mut budget = Budget::new(STEPS);
            let definition = UnionDefinition { strict, ..*self };
            let found = match format {
                Format::New => definition.sized(sides, &mut budget),
                Format::Old => definition.inferred(sides, &mut budget),
            };
            steps += STEPS - budget.left();
            found.unwrap_or(Clause::Limit.into())
        };
        let mut decision = overlap(false);
        // If no paths share a byte, none do for `union-strict`, which compares fewer paths.
        if self.strict && decision.is_may() {
            let counted = overlap(true);
            decision = match decision.clause {
                Clause::Overlap if !counted.is_may() => {
                    Decision { clause: Clause::Parted, ..decision }
                }
                _ => counted,
            };
        }
        Decision { steps, ..decision }
    }

    /// Decides without a search if possible. This is possible for most pairs.
    fn at_once(&self, (a, b): Sides<'_>) -> Option<bool> {
        let types = self.types;
        let (outer, inner) = if types.may_hold(a.0.base, b.0.base) { (a, b) } else { (b, a) };
        let old = outer.0.format(types) == Format::Old;
        // If `outer` has only one path, it is enough to follow that one.
        if outer.0.base != inner.0.base
            && outer.1.is_none()
            && is_within(types, &outer.0)
            && (!old || inner.0.size.is_none())
            && !passes(types, &outer.0, &inner.0)
        {
            return Some(false);
        }
        let sides = (inferred(outer), inferred(inner));
        old.then(|| inferred::at_once(types, sides, self.strict)).flatten()
    }

    fn sized(&self, (a, b): Sides<'_>, budget: &mut Budget) -> Result<Decision, Exhausted> {
        let mut arena = PathArena::new(self.explained);
        let (p, r) = (self.paths(a, &mut arena)?, self.paths(b, &mut arena)?);
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let ((a, p), (b, r)) =
                if from_b { ((b.0, &r), (a.0, &p)) } else { ((a.0, &p), (b.0, &r)) };
            if !self.types.may_hold(a.base, b.base) {
                continue;
            }
            let (bytes, numbers) = inside(self.types, &b, r, budget)?;
            let mut objects = Objects::new(self.types, b, &bytes);
            let whole = Object { ty: a.base, slot: UNBOUNDED, at: 0, strides: Vec::new() };
            let (p_bytes, witness) = match self.strict {
                true => self.search_along(&a, &mut objects, &mut arena, budget)?,
                false => {
                    let ours = uncut(self.types, &a, p);
                    let found = objects.search(&ours, whole, Link::START, &mut arena, budget)?;
                    (ours, found.map(|found| (p[found.p].link, found)))
                }
            };
            related |= objects.related;
            if self.explained && !related {
                related = Containing::new(self.types, b).contains(a.base, budget)?;
            }
            let meets = witness.is_some();
            let seen = witness.or_else(|| {
                let apart = objects.apart.take().filter(|_| !self.strict)?;
                Some((p[apart.p].link, apart))
            });
            let meeting = seen.filter(|_| self.explained).map(|(link, found)| {
                let bytes = (byte_range(&p_bytes[found.p]), byte_range(&found.r_bytes));
                let links = [link, found.q, r[numbers[found.r]].link];
                Meeting { bytes: Some(bytes), ..self.meeting(from_b, &a, links, &arena) }
            });
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

    /// Returns the paths of an access. Computes them again if the answer must contain the steps.
    fn paths<'d>(
        &self,
        (access, known): Side<'d>,
        arena: &mut PathArena,
    ) -> Result<Cow<'d, [Denoted]>, Exhausted> {
        match known {
            _ if self.explained => {
                let budget = &mut Budget::new(STEPS);
                Ok(denoted(self.types, &access, None, arena, budget)?.into())
            }
            Some(Denotation::Sized(paths)) => Ok(Cow::Borrowed(paths)),
            _ => {
                let strides = on_clear_walk(self.types, &access);
                Ok(vec![Denoted { strides, link: Link::START, tracked: None }].into())
            }
        }
    }

    /// For rule `union-strict`: compares each path p of `a` with the objects of `b` to which a path
    /// q leads. [`Leaving`] describes how q leaves p.
    fn search_along(
        &self,
        a: &Resolved,
        objects: &mut Objects<'_>,
        arena: &mut PathArena,
        budget: &mut Budget,
    ) -> Result<(Vec<Pattern>, Option<Seen>), Exhausted> {
        let types = self.types;
        let b = objects.b;
        for path in denoted(types, a, Some(&b), arena, budget)? {
            let Some(tracked) = &path.tracked else { continue };
            let mut ours = uncut(types, a, std::slice::from_ref(&path));
            let found = match &tracked.left {
                None => objects.search(&ours, tracked.end.clone(), path.link, arena, budget)?,
                Some((Left { object, by: Leaving::End }, link)) => {
                    objects.compare(&ours, (object.at, &object.strides), *link, budget)?
                }
                Some((Left { object, by: Leaving::Element { shift } }, link)) => {
                    ours.iter_mut().for_each(|bytes| bytes.start += u128::from(*shift));
                    objects.search(&ours, object.clone(), *link, arena, budget)?
                }
                Some((Left { object, by: Leaving::Field(taken) }, link)) => {
                    let mut found = None;
                    for (number, field) in others(types, object.ty, *taken) {
                        let array = elements(types, field, object.slot);
                        let mut strides = object.strides.clone();
                        array.into_iter().for_each(|array| add_stride(&mut strides, array));
                        let at = object.at.checked_add(field.offset).ok_or(Exhausted)?;
                        let slot = slot_of(types, field, array);
                        let start = Object { ty: field.ty, slot, at, strides };
                        let link = arena.step(*link, object.ty, number);
                        if found.is_none() && types.may_hold(field.ty, b.base) {
                            found = objects.search(&ours, start, link, arena, budget)?;
                        }
                    }
                    found
                }
            };
            if let Some(found) = found {
                return Ok((ours, Some((path.link, found))));
            }
        }
        Ok((Vec::new(), None))
    }

    fn inferred(&self, (a, b): Sides<'_>, budget: &mut Budget) -> Result<Decision, Exhausted> {
        let mut arena = PathArena::new(self.explained);
        let (a, b) = (inferred(a), inferred(b));
        let (mut related, mut apart) = (false, None);
        for from_b in [false, true] {
            let (outer, inner) = if from_b { (b, a) } else { (a, b) };
            if !self.types.may_hold(outer.0.base, inner.0.base) {
                continue;
            }
            let sides = (outer, inner);
            let search = Search::new(self.types, sides, self.strict, &mut arena, budget);
            let (meets, paths) = match search.run()? {
                Found::Meet(paths) => (true, Some(paths)),
                Found::Apart(paths) => (false, paths),
                Found::Nothing => continue,
            };
            related = true;
            let links = paths.filter(|_| self.explained).map(|Paths { p, q, r }| [p, q, r]);
            let meeting = links.map(|links| self.meeting(from_b, &outer.0, links, &arena));
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
        links: [Link; 3],
        arena: &PathArena,
    ) -> Meeting {
        let id = |ty| self.types.get(ty).node;
        let [p, q, r] = links
            .map(|link| arena.path(link).into_iter().map(|(ty, field)| (id(ty), field)).collect());
        Meeting { from_b, base: id(outer.base), p, q, r, bytes: None }
    }
}

/// Converts an access and its paths to the form that the search for the old format uses.
fn inferred((access, known): Side<'_>) -> inferred::Side<'_> {
    match known {
        Some(Denotation::Inferred(places)) => (access, Some(places)),
        _ => (access, None),
    }
}

fn byte_range(pattern: &Pattern) -> ByteRange {
    let end = pattern.start + pattern.len;
    let array = |&Stride { step, last }: &Stride| {
        let count = last + 1;
        // An array without end spans about `UNBOUNDED` bytes, or fewer if elements were cut off.
        let bounded = count.saturating_mul(step) < UNBOUNDED / 2;
        Elements {
            stride: u64::try_from(step).unwrap_or(u64::MAX),
            count: u64::try_from(count).ok().filter(|_| bounded),
        }
    };
    ByteRange {
        start: u64::try_from(pattern.start).unwrap_or(u64::MAX),
        end: u64::try_from(end).ok(),
        repeats: pattern.strides.iter().map(array).collect(),
    }
}
