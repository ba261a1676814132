//! Checks that LLVM interprets a tag correctly.

use tbaa::parts::table::{HashMap, HashSet, IndexSet};
use tbaa::parts::{Shape, Verdicts};
use tbaa::wellformed::Rule;
use tbaa::{Format, Graph, NodeId, Size, Tag, TagId, TypeId};

/// Decides which tags may be given to stock LLVM.
///
/// For two accepted tags, LLVM 22 answers `MayAlias` wherever rule
/// [`Union`](tbaa::AliasRule::Union) does, under two conditions: a scalar is no smaller than its
/// ancestors, and an aggregate's parent is an ancestor of all its fields' types. Types of
/// [`declare`](tbaa::declare) meet both.
///
/// The results for types are cached.
#[derive(Clone, Debug, Default)]
pub struct TagCheck {
    /// The stamp of the graph that was examined.
    stamp: Option<u32>,
    verdicts: Verdicts,
    /// For each examined type, the positions of the fields that share bytes with another field.
    shared: HashMap<NodeId, Box<[usize]>>,
    /// For each struct that is accessed whole: the type of [`Reason::HiddenAncestor`], if any.
    hidden: HashMap<NodeId, Option<TypeId>>,
}

/// The largest number of types that are examined inside a struct that is accessed whole.
const MOST_TYPES: usize = 1 << 14;

/// An error for a tag that must not be given to stock LLVM.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("tag {operands}: {reason}; lower the tags, or leave the access without one")]
pub struct TagCheckError {
    /// The tag.
    pub tag: TagId,
    /// The reason, which says what LLVM does with the tag.
    pub reason: Reason,
    /// The tag's base type, access type and offset, as text.
    operands: String,
}

/// The reason why a tag must not be given to LLVM 22.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// LLVM's verifier rejects the tag by this rule. If the verifier does not run, the alias
    /// analysis may crash.
    #[error("LLVM's verifier rejects {0}")]
    Rejected(Rule),
    /// LLVM's verifier accepts the tag, but the alias analysis crashes: the path from the base type
    /// does not lead to the access type.
    #[error("the path never meets the access type, and LLVM crashes on that")]
    NeverMet,
    /// The path from the base type leads through a field that shares bytes with another field. LLVM
    /// follows only the last of these fields.
    #[error("the path leads through fields that overlap, of which LLVM sees the last only")]
    Union {
        /// The type with the fields that overlap.
        ty: TypeId,
    },
    /// The tag is for a whole struct inside its base type, and LLVM does not see that such an
    /// access covers the struct's fields.
    #[error("a whole struct inside another, whose fields LLVM takes for unrelated to it")]
    PartialStruct,
    /// The tag is for a whole struct, and LLVM does not see that such an access covers accesses to
    /// `ty`: the type is an ancestor of a field's type, but neither an ancestor of the struct nor
    /// among the types in it. (Or the struct has more than 16,384 types, so not all are examined.)
    #[error("a whole struct, which LLVM takes for unrelated to the type above a field's type")]
    HiddenAncestor {
        /// The type that LLVM does not find.
        ty: TypeId,
    },
    /// The number of accessed bytes is unknown, so the access may reach the end of its base type.
    /// LLVM takes it for an access to the field alone.
    #[error(
        "an access of unknown size reaches to the end of its base type, and LLVM does not look at \
         sizes"
    )]
    UnknownSize,
    /// The access has more bytes than its type; LLVM ignores the access's size.
    #[error("{size} bytes in a place of {room}, and LLVM does not look at sizes")]
    Wide {
        /// The number of bytes that are accessed.
        size: u64,
        /// The number of bytes of the type.
        room: u64,
    },
}

impl TagCheck {
    /// Returns a check that has not examined any type.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks that stock LLVM 22 may be given the tag.
    ///
    /// # Errors
    ///
    /// Returns a [`TagCheckError`] with the reason if LLVM must not be given the tag.
    ///
    /// # Panics
    ///
    /// Panics if `tag` is not from `graph`.
    pub fn check(&mut self, graph: &Graph, tag: TagId) -> Result<(), TagCheckError> {
        if self.stamp != Some(graph.stamp()) {
            *self = TagCheck { stamp: Some(graph.stamp()), ..TagCheck::default() };
        }
        let error = |reason| TagCheckError { tag, reason, operands: operands(graph, tag) };
        self.judge(graph, tag).map_err(error)
    }

    /// Like [`TagCheck::check`], for a tag in a `!tbaa.struct` list. The size of a tag for a whole
    /// type may be a multiple of the type's size, as clang writes it for arrays.
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
        // This cannot fail, because the verifier accepts the tag.
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

    /// Returns whether the field whose type is at `position` shares bytes with another field. In
    /// the old format, which has no sizes, this is known only for fields at one offset.
    fn shares(&mut self, graph: &Graph, ty: TypeId, position: usize) -> bool {
        let known = self.shared.entry(ty.node()).or_insert_with(|| shared(graph, ty));
        known.binary_search(&position).is_ok()
    }
}

/// Returns the larger of a field's stated size and its type's size, in bytes; 0 if 0 is stated.
fn extent(graph: &Graph, ty: TypeId, position: usize) -> Option<u64> {
    let slot = Shape::of(graph, ty.node()).extent(position)?;
    let slot = graph.operand(ty.node(), slot)?.int()?.value;
    let of = graph.operand(ty.node(), position)?.node()?;
    // A flexible array has the stated size 0, and no field follows it.
    let size = if slot == 0 { 0 } else { graph.ty(TypeId::of_node(of)).size().unwrap_or(0) };
    Some(slot.max(size))
}

/// Returns the positions of the fields that share bytes with another field, in ascending order. The
/// verifier has checked that the fields are in the order of their offsets.
fn shared(graph: &Graph, ty: TypeId) -> Box<[usize]> {
    let shape = Shape::of(graph, ty.node());
    let mut found = Vec::new();
    // The earlier field that ends last, and its end.
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

/// Returns a type that is an ancestor of a type inside `of`, but neither inside `of` nor an
/// ancestor of `of`: LLVM does not find it. If too many types are inside `of`, returns one of them.
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

/// Formats a tag for messages: `("S", "int", 4)`.
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
