//! Why an answer is what it is.

use std::fmt;

use super::union::{Decision, Meeting, Pattern, UNBOUNDED};
use super::{AliasResult, Rules};
use crate::graph::{Graph, TypeId};

/// The clause of a rule that decided.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Clause {
    /// May: an access has no tag.
    NoTag,
    /// May: another graph issued a tag.
    ForeignTag,
    /// May: a tag, or a type that it reaches, is ill formed, contains itself,
    /// or mixes formats; or the tag denotes no path; for rule `llvm`, LLVM's
    /// verifier rejects the tag.
    Malformed,
    /// May: the two tags are one.
    SameTag,
    /// May: the access types stand under different roots.
    Roots,
    /// May: one access is to a whole object of a type that is the other's
    /// access type or an ancestor of it.
    Generality,
    /// May: the tags are of different formats.
    MixedFormats,
    /// May: a byte is shared, or in the old format two slots meet.
    Overlap,
    /// May: the search reached a limit.
    Limit,
    /// May, rule `llvm` only: LLVM would crash or not terminate.
    Crash,
    /// May, rule `llvm` only: the walk from one base type meets the other at
    /// the other's offset, or at a whole object.
    Meets,
    /// May, rule `llvm` only, new format: one access type contains the other's
    /// base type.
    Contains,
    /// No: the walk from one base type meets the other, at another offset; rule
    /// `llvm` only.
    OtherOffset,
    /// No: objects of both accesses lie in one type, and all their bytes apart.
    Apart,
    /// No, rule `union-strict` only: bytes are shared, but by accesses to
    /// different members, one of which does not name the union.
    Parted,
    /// No: neither base type leads to an object of the other access.
    Unrelated,
}

impl Clause {
    /// Returns whether the clause answers `NoAlias`.
    #[must_use]
    pub fn is_no_alias(self) -> bool {
        matches!(self, Clause::OtherOffset | Clause::Apart | Clause::Parted | Clause::Unrelated)
    }

    pub(super) fn answer(self) -> AliasResult {
        if self.is_no_alias() { AliasResult::NoAlias } else { AliasResult::MayAlias }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clause::NoTag => "an access has no tag",
            Clause::ForeignTag => "another graph issued a tag",
            Clause::Malformed => "a tag is malformed or denotes no path",
            Clause::SameTag => "the tags are one",
            Clause::Roots => "the access types stand under different roots",
            Clause::Generality => "a whole access to a type that covers the other's access type",
            Clause::MixedFormats => "one tag is of the old format, one of the new",
            Clause::Overlap => "the accesses share bytes",
            Clause::Limit => "the types are too entangled: a limit of the search was reached",
            Clause::Crash => "LLVM would crash on these tags",
            Clause::Meets => "the walk from one base type meets the other tag's",
            Clause::Contains => "one access type contains the other tag's base type",
            Clause::OtherOffset => {
                "the walk from one base type meets the other tag's, at another offset"
            }
            Clause::Apart => "the accesses lie in one type, at bytes that never meet",
            Clause::Parted => "the accesses share bytes, but part at the members of a union",
            Clause::Unrelated => "neither base type leads to the other access",
        })
    }
}

/// One of the two accesses of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// The elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Elements {
    /// Bytes from one element to the next.
    pub stride: u64,
    /// How many; `None` for a flexible array without end.
    pub count: Option<u64>,
}

impl Elements {
    fn new(stride: u128, last: u128) -> Self {
        let count = last + 1;
        let bounded = count.saturating_mul(stride) < UNBOUNDED;
        Elements {
            stride: u64::try_from(stride).unwrap_or(u64::MAX),
            count: u64::try_from(count).ok().filter(|_| bounded),
        }
    }
}

/// One step of a path: into a field.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathStep {
    /// The name of the type that has the field; empty if it has none.
    pub ty: String,
    /// The field's position, from 0.
    pub field: usize,
    /// The field's offset, in bytes from the start of its type.
    pub offset: u64,
    /// The name of the field's type.
    pub into: String,
    /// Whether the field is an array, as far as the format tells.
    pub array: bool,
}

/// The bytes of an access: an interval, repeated for each array element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ByteRange {
    /// The first byte, from the start of the type that the path starts from.
    pub start: u64,
    /// The byte after the last; `None` without end.
    pub end: Option<u64>,
    /// The arrays whose elements repeat the interval.
    pub repeats: Vec<Elements>,
}

impl ByteRange {
    fn new(pattern: &Pattern) -> Self {
        let end = pattern.start + pattern.len;
        ByteRange {
            start: u64::try_from(pattern.start).unwrap_or(u64::MAX),
            end: u64::try_from(end).ok(),
            repeats: pattern.strides.iter().map(|s| Elements::new(s.step, s.last)).collect(),
        }
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}", self.start)?;
        match self.end {
            Some(end) if end == self.start + 1 => {}
            Some(end) => write!(f, "-{}", end - 1)?,
            None => write!(f, " onward")?,
        }
        for Elements { stride, count } in &self.repeats {
            write!(f, ", every {stride}")?;
            if let Some(count) = count {
                write!(f, " ({count} times)")?;
            }
        }
        Ok(())
    }
}

/// How an access is reached from the common base type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AccessPath {
    /// The steps from the common base type to what is accessed.
    pub steps: Vec<PathStep>,
    /// How many of the steps lead to the tag's own base type.
    pub to_base: usize,
    /// The bytes; `None` in the old format, where no sizes are known.
    pub bytes: Option<ByteRange>,
}

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            f.write_str("the object itself")?;
        }
        for (position, step) in self.steps.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            let PathStep { field, offset, into, array, .. } = step;
            let elements = if *array { "[]" } else { "" };
            write!(f, "field {field} at {offset}: {into}{elements}")?;
        }
        match &self.bytes {
            Some(bytes) => write!(f, "; {bytes}"),
            None => Ok(()),
        }
    }
}

/// Two paths from one base type that were compared: a pair that meets if any
/// does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Comparison {
    /// The access from whose base type both paths start.
    pub outer: Side,
    /// The name of that base type.
    pub base: String,
    /// The path of the first access.
    pub a: AccessPath,
    /// The path of the second access.
    pub b: AccessPath,
}

/// The answer to a query and the reason for it, by [`Oracle::explain`].
///
/// The text form starts with the answer, alone on a line.
///
/// [`Oracle::explain`]: crate::Oracle::explain
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The rules followed.
    pub rules: Rules,
    /// The answer.
    pub answer: AliasResult,
    /// The clause that gives it.
    pub clause: Clause,
    /// The paths compared, where the clause compares paths.
    pub comparison: Option<Comparison>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nrule {}: {}", self.answer, self.rules, self.clause)?;
        if let Some(Comparison { base, a, b, .. }) = &self.comparison {
            write!(f, "\nfrom {base}\n  a: {a}\n  b: {b}")?;
        }
        Ok(())
    }
}

impl Explanation {
    /// An answer that comes of no comparison of paths.
    pub(super) fn plain(rules: Rules, clause: Clause) -> Self {
        Explanation { rules, answer: clause.answer(), clause, comparison: None }
    }

    pub(super) fn new(graph: &Graph, rules: Rules, decision: &Decision) -> Self {
        let comparison = decision.meeting.as_ref().map(|meeting| compare(graph, meeting));
        Explanation { comparison, ..Explanation::plain(rules, decision.clause) }
    }
}

fn compare(graph: &Graph, meeting: &Meeting) -> Comparison {
    let step = |&(ty, field): &(TypeId, usize)| {
        let node = graph.ty(ty);
        // A field number of the old format's scalars stands for the parent.
        let found = node.fields().nth(field);
        let into = found.map(|field| field.ty).or(node.parent());
        PathStep {
            ty: name(graph, ty),
            field,
            offset: found.map_or(0, |field| field.offset),
            into: into.map_or_else(String::new, |ty| name(graph, ty)),
            array: found.is_some_and(|field| {
                let size = graph.ty(field.ty).size().unwrap_or(0);
                size != 0 && field.extent.is_some_and(|extent| extent > size || extent == 0)
            }),
        }
    };
    let (outer_bytes, inner_bytes) = match &meeting.bytes {
        Some((outer, inner)) => (Some(ByteRange::new(outer)), Some(ByteRange::new(inner))),
        None => (None, None),
    };
    let outer =
        AccessPath { steps: meeting.p.iter().map(step).collect(), to_base: 0, bytes: outer_bytes };
    let inner = AccessPath {
        steps: meeting.q.iter().chain(&meeting.r).map(step).collect(),
        to_base: meeting.q.len(),
        bytes: inner_bytes,
    };
    let (side, a, b) =
        if meeting.from_b { (Side::B, inner, outer) } else { (Side::A, outer, inner) };
    Comparison { outer: side, base: name(graph, meeting.base), a, b }
}

fn name(graph: &Graph, ty: TypeId) -> String {
    String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned()
}
