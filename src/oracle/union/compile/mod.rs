//! Rules `union` and `union-strict` in constant time, for the tags that real
//! programs have.
//!
//! A type is *plain* if its fields lie apart, each wide enough for all inside
//! it. From a plain type one way leads to each byte, so a tag whose walk passes
//! plain types alone is *regular*: its cursors are as those of rule `llvm`, and
//! two regular tags of one root and format share a byte iff one's cursor lies
//! on the other's walk. (That is the theorem that both rules agree where
//! nothing overlaps.)
//!
//! Any other tag is *wide*: see [`inferred`] for the old format and [`sized`]
//! for the new. What these do not cover is left to the search, and so are
//! accesses of a size of their own. All three agree, where no limit is
//! reached; feature `self-check` compares them on every query.

mod inferred;
mod sized;

use super::flood::Resolved;
use super::limits::Exhausted;
use super::types::{TypeIndex, Types};
use super::{Access, Engine};
use crate::graph::{Format, Graph, TagId};
use crate::oracle::compiled::Compiled;
use crate::oracle::filter::Filter;

/// What is known of wide tags.
#[derive(Clone, Default, Debug)]
pub(super) struct Tables {
    inferred: inferred::Tables,
    sized: sized::Tables,
    wide: Vec<Wide>,
}

#[derive(Clone, Debug)]
struct Wide {
    /// The cursor of the access type, or if that is an aggregate, of its
    /// parent: whole scalars above it cover the access.
    up: u32,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The overlapping aggregates that the access crosses, from its base on.
    Inferred(Vec<inferred::Crossing>),
    Sized(sized::Wide),
    /// The access is larger than its type: unless that decides, the search must.
    Vague,
}

impl Kind {
    fn is_inferred(&self) -> bool {
        matches!(self, Kind::Inferred(_))
    }

    fn crossings(&self) -> &[inferred::Crossing] {
        match self {
            Kind::Inferred(crossings) => crossings,
            _ => &[],
        }
    }

    fn sized(&self) -> Option<&sized::Wide> {
        match self {
            Kind::Sized(wide) => Some(wide),
            _ => None,
        }
    }
}

/// Why a tag has no place in the tables.
enum Aside {
    /// It may alias everything.
    Rejected,
    /// The search decides.
    Ask,
}

impl From<Exhausted> for Aside {
    fn from(_: Exhausted) -> Self {
        Aside::Rejected
    }
}

impl Engine {
    /// Adds the graph's next tag.
    pub(in crate::oracle) fn add(
        &mut self,
        graph: &Graph,
        compiled: &mut Compiled,
        tag: TagId,
        strict: bool,
    ) {
        self.types.extend(graph);
        let Ok(access) = self.resolve(graph, tag.into()) else {
            return compiled.push_rejected();
        };
        // All else under its root lies in an object of the root.
        let of_access = self.types.get(access.access);
        if of_access.format.is_none() && access.is_whole() {
            return compiled.push_rejected();
        }
        // Tags of two formats under one root may alias, as those of two roots.
        let format = self.format(&access);
        let root = 2 * of_access.root + u32::from(format == Format::New);
        match self.place(compiled, graph, &access, strict) {
            Err(Aside::Rejected) => compiled.push_rejected(),
            Err(Aside::Ask) => compiled.push_ask(root),
            Ok((cursor, None)) => compiled.push_regular(root, cursor),
            Ok((cursor, Some((wide, filter)))) => {
                // A walk may come through a plain frame at any offset.
                let minds = wide.kind.sized().and_then(sized::Wide::plain_frame);
                self.tables.wide.push(wide);
                compiled.push_wide(root, cursor, filter, minds);
            }
        }
    }

    /// Returns a tag's cursor, and what else is to be known of a wide tag.
    fn place(
        &mut self,
        compiled: &mut Compiled,
        graph: &Graph,
        access: &Resolved,
        strict: bool,
    ) -> Result<(u32, Option<(Wide, Filter)>), Aside> {
        let types = &self.types;
        if types.get(access.access).format.is_none() {
            return Err(Aside::Ask);
        }
        if is_regular(types, access)
            && let Some(cursor) = walk(types, compiled, (access.base, access.offset), access)
        {
            return Ok((cursor, None));
        }
        let (cursor, kind, mut filter) = match self.format(access) {
            Format::Old => {
                let tables = &mut self.tables.inferred;
                let (cursor, crossings, filter) =
                    tables.add(types, compiled, graph, access, strict)?;
                (cursor, Kind::Inferred(crossings), filter)
            }
            Format::New => {
                let tables = &mut self.tables.sized;
                let (cursor, wide, filter) = tables.add(types, compiled, graph, access)?;
                (cursor, wide.map_or(Kind::Vague, Kind::Sized), filter)
            }
        };
        let of_access = types.get(access.access);
        let covered = match types.parent(access.access) {
            Some(parent) if !of_access.scalar => parent,
            _ => access.access,
        };
        // An aggregate above an aggregate would be another thing to look for.
        let up = lay(types, compiled, (covered, 0)).filter(|_| {
            let covered = types.get(covered);
            covered.scalar || covered.format.is_none()
        });
        let up = up.ok_or(Aside::Ask)?;
        filter.add(access.access);
        compiled.types_from(cursor).chain(compiled.types_from(up)).for_each(|ty| filter.add(ty));
        Ok((cursor, Some((Wide { up, kind }, filter))))
    }

    /// Decides on two tags of one root and format, of which one is wide; `None`
    /// leaves it to the search.
    pub(in crate::oracle) fn compare(
        &self,
        graph: &Graph,
        compiled: &Compiled,
        (a, b): (TagId, TagId),
        strict: bool,
    ) -> Option<bool> {
        let tables = &self.tables;
        let [wide_a, wide_b] =
            [a, b].map(|tag| compiled.wide(tag.index()).map(|wide| &tables.wide[wide]));
        let covers = |upper: TagId, lower: TagId, wide: Option<&Wide>| {
            let up = wide.map_or(compiled.cursor(lower.index()), |wide| wide.up);
            self.types.get(compiled.base(upper.index())).scalar
                && compiled.forest.is_ancestor(compiled.cursor(upper.index()), up)
        };
        if a == b || covers(a, b, wide_b) || covers(b, a, wide_a) {
            return Some(true);
        }
        let kinds = [(a, wide_a), (b, wide_b)].map(|(tag, wide)| (tag, wide.map(|w| &w.kind)));
        if kinds.iter().any(|(_, kind)| kind.is_some_and(Kind::is_inferred)) {
            let [a, b] =
                kinds.map(|(tag, kind)| (tag.index(), kind.map_or(&[][..], Kind::crossings)));
            return Some(tables.inferred.may_alias(compiled, a, b, strict));
        }
        if kinds.iter().any(|(_, kind)| matches!(kind, Some(Kind::Vague))) {
            return None;
        }
        let [a, b] = kinds.map(|(tag, kind)| sized::Side {
            tag,
            base: compiled.base(tag.index()),
            cursor: compiled.cursor(tag.index()),
            wide: kind.and_then(Kind::sized),
        });
        let resolve = |tag: TagId| self.resolve(graph, Access::from(tag)).ok();
        tables.sized.may_alias(&self.types, compiled, (&a, &b), strict, resolve)
    }
}

/// Whether a tag is regular if its walk is plain: it accesses a scalar, and no
/// byte beside.
fn is_regular(types: &Types, access: &Resolved) -> bool {
    let scalar = types.get(access.access);
    let within = match access.size {
        _ if scalar.format == Some(Format::Old) => true,
        Some(size) => u128::from(size) <= scalar.far,
        // It goes on to the end of the field, and past that within an array.
        None => !types.get(access.base).arrays,
    };
    scalar.scalar && scalar.plain && within
}

/// The place after one in a plain type or a scalar, `Some(None)` after a root;
/// `None` where the type is neither or the offset leads nowhere.
fn next(types: &Types, (ty, offset): (TypeIndex, u64)) -> Option<Option<(TypeIndex, u64)>> {
    let of_type = types.get(ty);
    if of_type.format.is_none() {
        return Some(None);
    }
    if !of_type.plain || of_type.scalar && offset != 0 {
        return None;
    }
    if of_type.scalar {
        return Some(Some((types.parent(ty)?, 0)));
    }
    let fields = types.fields(ty);
    let started = fields.partition_point(|field| field.offset <= offset);
    // A class without data holds no path.
    let field = fields[..started].iter().rfind(|field| types.get(field.ty).format.is_some())?;
    Some(Some((field.ty, offset - field.offset)))
}

/// Returns the cursor of a place in plain types, the cursors after it added.
fn lay(types: &Types, compiled: &mut Compiled, start: (TypeIndex, u64)) -> Option<u32> {
    let mut path = Vec::new();
    let mut at = start;
    let mut cursor = loop {
        if let Some(known) = compiled.find(at.0, at.1) {
            break Some(known);
        }
        path.push(at);
        match next(types, at)? {
            Some(next) => at = next,
            None => break None,
        }
    };
    for (ty, offset) in path.into_iter().rev() {
        cursor = Some(compiled.push(ty, offset, cursor));
    }
    cursor
}

/// Returns the cursor of a place from which a plain walk leads to what is
/// accessed.
fn walk(
    types: &Types,
    compiled: &mut Compiled,
    start: (TypeIndex, u64),
    access: &Resolved,
) -> Option<u32> {
    let end = lay(types, compiled, (access.access, 0))?;
    let cursor = lay(types, compiled, start)?;
    let forest = &compiled.forest;
    let is_aggregate = |cursor| {
        let ty = types.get(compiled.ty(cursor));
        !ty.scalar && ty.format.is_some()
    };
    let arrives = match types.get(access.access).format {
        // Whatever a scalar is, its ancestors are.
        Some(Format::Old) => true,
        _ if is_aggregate(cursor) => forest.parent(forest.climb(cursor, is_aggregate)) == Some(end),
        _ => cursor == end,
    };
    (arrives && forest.is_ancestor(end, cursor)).then_some(cursor)
}
