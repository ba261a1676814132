//! The explanation of an answer: the clause that decides, and the paths that it compares.

use std::borrow::Borrow;
use std::fmt;

use super::alias_rule::{AliasResult, AliasRule};
use super::clause::Clause;
use super::gap::Apart;
use super::grow::Oracle;
use super::rule::{Decision, Meeting};
use crate::access::Access;
use crate::graph::{Graph, TypeId};

/// One of the two accesses of a query.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Side {
    /// The first access.
    A,
    /// The second access.
    B,
}

/// One step of a path: from a type into one of its fields, or from a scalar to its parent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathStep {
    /// The name of the type that contains the field, or an empty string if it has no name.
    pub ty: String,
    /// The position of the field among the type's fields, from 0.
    pub field: usize,
    /// The offset of the field, in bytes from the start of the type.
    pub offset: u64,
    /// The name of the type to which the step leads.
    pub into: String,
    /// True if the field is known to be an array.
    pub array: bool,
}

/// The elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Elements {
    /// The number of bytes from one element to the next.
    pub stride: u64,
    /// The number of elements, or `None` for a flexible array, which has no end.
    pub count: Option<u64>,
}

/// The bytes of an access: an interval that is repeated for each array element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ByteRange {
    /// The first byte, counted from the start of the type at which the path starts.
    pub start: u64,
    /// The byte after the last one, or `None` if the interval has no end.
    pub end: Option<u64>,
    /// The arrays for whose elements the interval is repeated.
    pub repeats: Vec<Elements>,
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

/// One of the two paths of a [`Comparison`]: from [`Comparison::base`] to one of the accesses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct AccessPath {
    /// The steps to the accessed type.
    pub steps: Vec<PathStep>,
    /// The number of steps that lead to the base type of this access's own tag.
    pub to_base: usize,
    /// The bytes of the access, or `None` in the old format, which has no sizes.
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
        self.bytes.iter().try_for_each(|bytes| write!(f, "; {bytes}"))
    }
}

/// Two compared paths from one base type. If any paths of the accesses overlap, these two do.
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
    /// A division with remainder that proves that the accesses share no byte. `None` if none was
    /// found, or if one access simply ends before the other begins.
    pub apart: Option<Apart>,
}

/// The answer to a query and its reason. [`Oracle::explain`](crate::Oracle::explain) returns it.
///
/// The first line of its text form contains only the answer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The rule that gave the answer.
    pub rule: AliasRule,
    /// The answer.
    pub answer: AliasResult,
    /// The clause of the rule that decided.
    pub clause: Clause,
    /// The paths that were compared, if the clause compares paths.
    pub comparison: Option<Comparison>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nrule {}: {}", self.answer, self.rule, self.clause)?;
        if let Some(comparison) = &self.comparison {
            let Comparison { base, a, b, .. } = comparison;
            write!(f, "\nfrom {base}\n  a: {a}\n  b: {b}")?;
            comparison.apart.iter().try_for_each(|apart| write!(f, "\n  {apart}"))?;
        }
        Ok(())
    }
}

impl Explanation {
    /// Replaces the names of all types.
    #[doc(hidden)]
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        let Some(Comparison { base, a, b, .. }) = &mut self.comparison else { return };
        let steps = a.steps.iter_mut().chain(&mut b.steps);
        for ty in steps.flat_map(|step| [&mut step.ty, &mut step.into]).chain([base]) {
            *ty = name(ty);
        }
    }

    pub(super) fn new(graph: &Graph, rule: AliasRule, decision: &Decision) -> Self {
        let clause = decision.clause;
        let comparison = decision.meeting.as_ref().map(|meeting| compare(graph, meeting));
        let no = clause.is_no_alias();
        let answer = if no { AliasResult::NoAlias } else { AliasResult::MayAlias };
        Explanation { rule, answer, clause, comparison }
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns the answer of [`Oracle::alias`], the clause that decided, and the paths and bytes
    /// that this clause compares.
    ///
    /// ```
    /// use tbaa::explain::Clause;
    /// use tbaa::{Graph, Oracle, AliasRule, SizedField};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.sized_type(root, 4, "int", &[])?;
    /// let float = b.sized_type(root, 4, "float", &[])?;
    /// let at_0 = |ty| SizedField { ty, offset: 0, size: 4 };
    /// let u = b.sized_type(root, 4, "U", &[at_0(int), at_0(float)])?;
    /// let u_i = b.access_tag(u, int, 0, 4)?;
    /// let f = b.access_tag(float, float, 0, 4)?;
    ///
    /// let why = Oracle::new(&graph, AliasRule::Union).explain(u_i, f);
    /// assert_eq!(why.clause, Clause::Overlap);
    /// assert_eq!(
    ///     why.to_string(),
    ///     "MayAlias
    /// rule union: the accesses share bytes
    /// from U
    ///   a: field 0 at 0: int; bytes 0-3
    ///   b: field 1 at 0: float; bytes 0-3"
    /// );
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    pub fn explain(&self, a: impl Into<Access>, b: impl Into<Access>) -> Explanation {
        self.explain_within(a.into(), b.into(), &mut { u64::MAX })
    }

    /// Like [`Oracle::explain`]. Also subtracts the steps of the search from `left`.
    #[doc(hidden)]
    pub fn explain_within(&self, a: Access, b: Access, left: &mut u64) -> Explanation {
        let mut decision = self.engine().decide(self.indexed(), (a, b), true);
        // The index may prove that accesses do not alias even if the search reaches its limit.
        if decision.clause == Clause::Limit && !self.may_alias(a, b) {
            decision.clause = Clause::Apart;
        }
        *left = left.saturating_sub(decision.steps.into());
        Explanation::new(self.graph(), self.rule(), &decision)
    }
}

fn compare(graph: &Graph, meeting: &Meeting) -> Comparison {
    let type_at = |node| TypeId(graph.node_at(node));
    let step = |&(ty, field): &(u32, usize)| {
        let ty = type_at(ty);
        let node = graph.ty(ty);
        // Without such a field, the type is a scalar, and the step leads to its parent.
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
    let bytes = meeting.bytes.as_ref();
    let apart = bytes.and_then(|(outer, inner)| Apart::find(outer, inner));
    let (outer_bytes, inner_bytes) = meeting.bytes.clone().unzip();
    let outer =
        AccessPath { steps: meeting.p.iter().map(step).collect(), to_base: 0, bytes: outer_bytes };
    let inner = AccessPath {
        steps: meeting.q.iter().chain(&meeting.r).map(step).collect(),
        to_base: meeting.q.len(),
        bytes: inner_bytes,
    };
    let (side, a, b) =
        if meeting.from_b { (Side::B, inner, outer) } else { (Side::A, outer, inner) };
    Comparison { outer: side, base: name(graph, type_at(meeting.base)), a, b, apart }
}

fn name(graph: &Graph, ty: TypeId) -> String {
    String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned()
}
