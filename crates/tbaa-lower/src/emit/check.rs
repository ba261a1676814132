//! The tags that LLVM interprets correctly.

use tbaa::parts::table::{HashMap, HashSet, IndexSet};
use tbaa::parts::{Shape, Verdicts};
use tbaa::wellformed::Rule;
use tbaa::{Format, Graph, NodeId, Size, Tag, TagId, TypeId};

/// Decides which tags may be given to stock LLVM.
///
/// For two tags that pass, LLVM 22 answers `MayAlias` wherever rule
/// [`Union`](tbaa::AliasRule::Union) does, if scalars are no smaller than those above them and an
/// aggregate's parent is above all its fields, as in the types that [`declare`](tbaa::declare)
/// makes. A test compares the two rules on random graphs.
///
/// Each type is examined once, so a check takes one step for each type on the tag's path.
#[derive(Clone, Debug, Default)]
pub struct TagCheck {
    /// The stamp of the graph that was examined.
    stamp: Option<u32>,
    verdicts: Verdicts,
    /// Positions of the fields of a type that share bytes with another, where
    /// there are any.
    shared: HashMap<NodeId, Box<[usize]>>,
    /// The first type hidden in each struct that is accessed whole.
    hidden: HashMap<NodeId, Option<TypeId>>,
}

/// The most types inside a struct accessed whole that are examined.
const MOST_TYPES: usize = 1 << 14;

/// A tag that is not for stock LLVM.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("tag {operands}: {reason}; lower the tags, or leave the access without one")]
pub struct TagCheckError {
    /// The tag.
    pub tag: TagId,
    /// LLVM's treatment of it.
    pub reason: Reason,
    /// Base type, access type and offset, with their names.
    operands: String,
}

/// LLVM 22's treatment of a tag that it should not be given.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// LLVM's verifier rejects it, for this rule. Without the verifier, the alias analysis may
    /// crash.
    #[error("LLVM's verifier rejects {0}")]
    Rejected(Rule),
    /// LLVM's verifier accepts it, but the alias analysis crashes: the path never meets the access
    /// type.
    #[error("the path never meets the access type, and LLVM crashes on that")]
    NeverMet,
    /// The path leads through a field that shares bytes with another, and LLVM
    /// follows the last member only.
    #[error("the path leads through fields that overlap, of which LLVM sees the last only")]
    Union {
        /// The type with the fields that overlap.
        ty: TypeId,
    },
    /// It accesses a struct inside its base type; LLVM does not see that the
    /// access covers the struct's fields.
    #[error("a whole struct inside another, whose fields LLVM takes for unrelated to it")]
    PartialStruct,
    /// It accesses a whole struct, and LLVM does not see that this covers accesses to `ty`: the
    /// type is above a field's type, but neither above the struct nor among the types in it. (Or
    /// the struct has more than 16,384 types in it, so that not all are examined.)
    #[error("a whole struct, which LLVM takes for unrelated to the type above a field's type")]
    HiddenAncestor {
        /// The type.
        ty: TypeId,
    },
    /// It accesses bytes of unknown number, and so up to the end of its base type;
    /// LLVM takes it for an access to the field alone.
    #[error(
        "an access of unknown size reaches to the end of its base type, and LLVM does not look at \
         sizes"
    )]
    UnknownSize,
    /// It accesses more bytes than its type has; LLVM ignores the size.
    #[error("{size} bytes in a place of {room}, and LLVM does not look at sizes")]
    Wide {
        /// Bytes accessed.
        size: u64,
        /// The type's bytes.
        room: u64,
    },
}

impl TagCheck {
    /// Returns a check that knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether stock LLVM 22 may be given the tag.
    ///
    /// # Errors
    ///
    /// The [`TagCheckError`].
    ///
    /// # Panics
    ///
    /// If `tag` was issued by another graph than `graph`.
    pub fn check(&mut self, graph: &Graph, tag: TagId) -> Result<(), TagCheckError> {
        if self.stamp != Some(graph.stamp()) {
            *self = TagCheck { stamp: Some(graph.stamp()), ..TagCheck::default() };
        }
        let error = |reason| TagCheckError { tag, reason, operands: operands(graph, tag) };
        self.judge(graph, tag).map_err(error)
    }

    /// Like [`TagCheck::check`], for a tag in a copy's list: a whole tag may be of
    /// several objects one after the other, as clang has it of arrays.
    pub(super) fn check_copied(&mut self, graph: &Graph, tag: TagId) -> Result<(), TagCheckError> {
        let checked = self.check(graph, tag);
        if let Err(TagCheckError { reason: Reason::Wide { size, room }, .. }) = checked
            && room != 0
            && size.is_multiple_of(room)
            && graph.tag(tag).is_ok_and(|tag| tag.is_whole())
        {
            return Ok(());
        }
        checked
    }

    fn judge(&mut self, graph: &Graph, tag: TagId) -> Result<(), Reason> {
        let verified = self.verdicts.check(graph, tag);
        verified.map_err(|violation| Reason::Rejected(violation.rule))?;
        // Cannot fail: the verifier accepts it.
        let tag = graph.tag(tag).map_err(|_| Reason::NeverMet)?;
        let Tag { base, access, mut offset, size, format, .. } = tag;
        let mut ty = base;
        while ty != access && !(format == Format::Old && graph.is_old_scalar(ty.node())) {
            let shape = Shape::of(graph, ty.node());
            let field = shape.field_at(graph, ty.node(), offset);
            let has_fields = shape.format == format && shape.fields().len() > 0;
            let (position, start) = field.filter(|_| has_fields).ok_or(Reason::NeverMet)?;
            if self.shares(graph, ty, position) {
                return Err(Reason::Union { ty });
            }
            offset = offset.wrapping_sub(start);
            let next = graph.operand(ty.node(), position).and_then(|operand| operand.node());
            ty = TypeId::of_node(next.ok_or(Reason::NeverMet)?);
        }
        if format == Format::Old {
            return Ok(());
        }
        if graph.ty(access).fields().next().is_some() {
            if ty != base {
                return Err(Reason::PartialStruct);
            }
            let hidden = self.hidden.entry(ty.node()).or_insert_with(|| hidden(graph, ty));
            if let Some(ty) = *hidden {
                return Err(Reason::HiddenAncestor { ty });
            }
        }
        let room = graph.ty(access).size().unwrap_or(0);
        match size {
            Some(Size::Unknown) if access != base => Err(Reason::UnknownSize),
            Some(Size::Bytes(size)) if size > room => Err(Reason::Wide { size, room }),
            _ => Ok(()),
        }
    }

    /// Returns whether the field whose type is at `position` shares bytes with another. In the old
    /// format this is known only for fields at one offset.
    fn shares(&mut self, graph: &Graph, ty: TypeId, position: usize) -> bool {
        let known = self.shared.entry(ty.node()).or_insert_with(|| shared(graph, ty));
        known.binary_search(&position).is_ok()
    }
}

/// Returns the bytes of a field: those of its slot or of its type, whichever are more.
fn extent(graph: &Graph, ty: TypeId, position: usize) -> Option<u64> {
    let slot = Shape::of(graph, ty.node()).extent(position)?;
    let slot = graph.operand(ty.node(), slot)?.int()?.value;
    let of = graph.operand(ty.node(), position)?.node()?;
    // A flexible array has no slot, and nothing follows it.
    let size = if slot == 0 { 0 } else { graph.ty(TypeId::of_node(of)).size().unwrap_or(0) };
    Some(slot.max(size))
}

/// The positions of the fields that share bytes, ascending. The fields are in
/// order of their offsets, as the verifier has seen.
fn shared(graph: &Graph, ty: TypeId) -> Box<[usize]> {
    let shape = Shape::of(graph, ty.node());
    let mut found = Vec::new();
    // The field that reaches farthest of those before, and its end.
    let mut before: Option<(usize, u64)> = None;
    for position in shape.fields() {
        let start = graph.operand(ty.node(), shape.offset(position));
        let Some(start) = start.and_then(|operand| operand.int()) else { continue };
        let start = start.value;
        let end = match shape.format {
            Format::Old => start.saturating_add(1),
            Format::New => start.saturating_add(extent(graph, ty, position).unwrap_or(0).max(1)),
        };
        if let Some((other, reach)) = before
            && start < reach
        {
            found.extend([other, position]);
        }
        if before.is_none_or(|(_, reach)| end > reach) {
            before = Some((position, end));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into()
}

/// The first type above a type in `of` that LLVM does not find from `of`.
///
/// LLVM: `hasField`, in `TypeBasedAliasAnalysis.cpp`.
fn hidden(graph: &Graph, of: TypeId) -> Option<TypeId> {
    let above = |ty| {
        let mut steps = 0;
        std::iter::successors(graph.ty(ty).parent(), move |&ty| {
            steps += 1;
            graph.ty(ty).parent().filter(|_| steps < MOST_TYPES)
        })
    };
    let above_of: HashSet<TypeId> = above(of).collect();
    let mut found: IndexSet<TypeId> = std::iter::once(of).collect();
    let mut next = 0;
    while let Some(&ty) = found.get_index(next) {
        if next == MOST_TYPES {
            return Some(ty);
        }
        next += 1;
        found.extend(graph.ty(ty).fields().map(|field| field.ty));
    }
    let seen = |ty: &TypeId| found.contains(ty) || above_of.contains(ty);
    found
        .iter()
        .flat_map(|&ty| above(ty).take_while(|ty| !above_of.contains(ty)))
        .find(|ty| !seen(ty))
}

/// Returns a tag as messages print it: `("S", "int", 4)`.
fn operands(graph: &Graph, tag: TagId) -> String {
    let name = |ty: TypeId| match graph.ty(ty).name() {
        Some(name) => format!("\"{}\"", name.escape_ascii()),
        None => format!("{ty:?}"),
    };
    match graph.tag(tag) {
        Ok(tag) => format!("({}, {}, {})", name(tag.base), name(tag.access), tag.offset),
        Err(_) => format!("{:?}", graph.tag_node(tag)),
    }
}
