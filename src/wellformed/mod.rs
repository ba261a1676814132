//! Checks tags, and the types on their paths, as LLVM's verifier does. A *walk* is a tag's path
//! from its base type to the root; a *cursor* is a type on a walk and an offset into this type.
//!
//! LLVM: `TBAAVerifier::visitTBAAMetadata`, in `lib/IR/Verifier.cpp`.

mod rule;

pub use rule::{Level, Rule};

use crate::graph::encoding::{TAG_OFFSET, TAG_SIZE, TAG_TYPES};
use crate::graph::{Format, Graph, Int, NodeId, Operand, Shape, TagId, TagParts};
use crate::table::{HashMap, HashSet};
use crate::walks::Walks;

/// A tag that LLVM's verifier rejects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{rule}")]
pub struct VerifyError {
    /// The first rule broken.
    pub rule: Rule,
    /// The tag, or the type node, that breaks it.
    pub node: NodeId,
}

/// Checks the tags of one graph as LLVM's verifier does. Results are cached for types and walks.
#[derive(Debug)]
pub struct Verifier<'g> {
    graph: &'g Graph,
    verdicts: Verdicts,
}

/// The cached results for one graph, which may grow.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Verdicts {
    /// The results for types by format. Those that [`Graph::is_ascending`] decides are left out.
    bases: HashMap<(NodeId, Format), Result<Width, VerifyError>>,
    /// The walks of tags, by format and by the bit width of their offsets.
    walks: HashMap<(Format, u32), EndedWalks>,
}

/// The walks of some tags. Node indices decrease along a walk.
#[derive(Clone, Debug, Default)]
struct EndedWalks {
    walks: Walks,
    /// The end of the walk from each cursor.
    ends: Vec<End>,
}

/// The most types on a path that is not cached. A longer one counts as endless and is rejected.
const OPEN: usize = 1 << 10;

/// The rule that a walk breaks, and the type that breaks it; `None` if the tag does.
type Broken = (Rule, Option<NodeId>);

/// The end of a walk that does not stop at the access type.
#[derive(Clone, Copy, Debug)]
enum End {
    AtRoot,
    Broken(Broken),
    /// The rest of the walk is not cached. The walk may reach a type twice, or step from a
    /// size-aware scalar to a type that is no scalar.
    Open,
}

/// A checker of the paths of tags of one format.
pub(crate) struct Check<'c> {
    graph: &'c Graph,
    known: &'c mut Verdicts,
    format: Format,
}

/// The bit width of the offsets into a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Width {
    /// A type without offsets: only offset 0 is valid.
    Zero,
    /// A size-aware scalar: any width is valid.
    Any,
    Bits(u32),
}

impl<'g> Verifier<'g> {
    /// Returns a verifier of the tags of `graph`.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Self {
        Verifier { graph, verdicts: Verdicts::default() }
    }

    /// Checks whether LLVM 22 accepts the tag.
    ///
    /// # Errors
    ///
    /// A [`VerifyError`] with the first rule that the tag breaks.
    ///
    /// # Panics
    ///
    /// If `tag` was issued by another graph.
    ///
    /// LLVM: `TBAAVerifier::visitTBAAMetadata`.
    pub fn check(&mut self, tag: TagId) -> Result<(), VerifyError> {
        self.verdicts.check(self.graph, tag)
    }
}

impl Verdicts {
    /// Like [`Verifier::check`]. All calls must pass the same graph.
    #[doc(hidden)]
    pub fn check(&mut self, graph: &Graph, tag: TagId) -> Result<(), VerifyError> {
        let node = graph.tag_node(tag);
        let (base, access, offset, format) = check_operands(graph, node)?;
        let checked = self.rules(graph, format).check_path(base, access, offset);
        checked.map_err(|(rule, at)| VerifyError { rule, node: at.unwrap_or(node) })
    }

    /// Returns a checker of the paths of tags of `format`.
    pub(crate) fn rules<'c>(&'c mut self, graph: &'c Graph, format: Format) -> Check<'c> {
        Check { graph, known: self, format }
    }
}

/// Checks a tag's own operands. Returns its base type, access type, offset and format.
pub(crate) fn check_operands(
    graph: &Graph,
    node: NodeId,
) -> Result<(NodeId, NodeId, Int, Format), VerifyError> {
    let fail = |rule| Err(VerifyError { rule, node });
    let len = graph.operand_count(node);
    if len == 0 {
        return fail(Rule::TagEmpty);
    }
    let operand = |position| graph.operand(node, position);
    let int = |position| operand(position).and_then(Operand::int);
    if !TagParts::is_struct_path(graph, node) {
        return fail(Rule::TagNotStructPath);
    }
    let format = TagParts::format(graph, node);
    let flag = TagParts::immutable_position(format);
    if len > flag + 1 || format == Format::New && len < flag {
        return fail(Rule::TagOperandCount);
    }
    if format == Format::New && int(TAG_SIZE).is_none() {
        return fail(Rule::TagSize);
    }
    match operand(flag).map(Operand::int) {
        None | Some(Some(Int { value: 0 | 1, .. })) => {}
        Some(None) => return fail(Rule::TagImmutable),
        Some(Some(_)) => return fail(Rule::TagImmutableRange),
    }
    let [base, access] = TAG_TYPES.map(|at| operand(at).and_then(Operand::node));
    let Some((base, access)) = base.zip(access) else {
        return fail(Rule::TagTypes);
    };
    if format == Format::Old && !graph.is_old_scalar(access) {
        return fail(Rule::AccessNotScalar);
    }
    let Some(offset) = int(TAG_OFFSET) else { return fail(Rule::TagOffset) };
    Ok((base, access, offset, format))
}

impl Check<'_> {
    /// Checks the path from the base type to the root, or to the access type of a size-aware tag.
    fn check_path(&mut self, base: NodeId, access: NodeId, offset: Int) -> Result<(), Broken> {
        let format = self.format;
        let start = self.add_walk(base, offset);
        let EndedWalks { walks, ends } = &self.known.walks[&(format, offset.bits)];
        let met = walks.forest.climb(start, |cursor| walks.ty(cursor) >= access.index);
        let comes = walks.ty(met) == access.index;
        let at = Int { value: walks.offset(met), ..offset };
        let found = match ends[start as usize] {
            _ if comes && format == Format::New => {
                if !comes_to(self.graph, walks, start, met) {
                    return self.follow(base, access, offset, OPEN);
                }
                self.check_place(access, true, at)
            }
            End::AtRoot if comes => Ok(()),
            End::AtRoot => Err((Rule::AccessNotOnPath, None)),
            End::Broken(broken) => Err(broken),
            End::Open => return self.follow(base, access, offset, OPEN),
        };
        if cfg!(tbaa_self_check) {
            assert_eq!(found, self.follow(base, access, offset, usize::MAX));
        }
        found
    }

    /// Returns the cursor at `start` and `offset`, after adding its walk.
    fn add_walk(&mut self, start: NodeId, offset: Int) -> u32 {
        let key = (self.format, offset.bits);
        let mut known = self.known.walks.remove(&key).unwrap_or_default();
        let EndedWalks { walks, ends } = &mut known;
        let mut end = End::AtRoot;
        let cursor = walks.add_walk((start.index, offset.value), usize::MAX, |ty, value| {
            let next = self.next(self.graph.node_at(ty), Int { value, ..offset });
            let next = next.map_err(|found| end = found).ok();
            Some(next.map(|(next, offset)| (next.index, offset.value)))
        });
        for cursor in ends.len() as u32..walks.forest.len() as u32 {
            ends.push(walks.forest.parent(cursor).map_or(end, |next| ends[next as usize]));
        }
        self.known.walks.insert(key, known);
        cursor.expect("nothing gives up")
    }

    /// Returns the type and offset after `ty`, which is not the access type, or the walk's end.
    fn next(&mut self, ty: NodeId, mut offset: Int) -> Result<(NodeId, Int), End> {
        if Shape::of(self.graph, ty).is_root() {
            return Err(End::AtRoot);
        }
        self.check_place(ty, false, offset).map_err(End::Broken)?;
        let next = self.step(ty, &mut offset);
        let next = next.map_err(|rule| End::Broken((rule, Some(ty))))?;
        if self.format == Format::New && is_scalar(self.graph, ty) {
            // After a scalar that is not accessed, the offset does not matter.
            offset.value = 0;
            if !is_scalar(self.graph, next) {
                return Err(End::Open);
            }
        }
        if next.index >= ty.index { Err(End::Open) } else { Ok((next, offset)) }
    }

    /// Like [`Check::check_path`], uncached. A path of more than `most` types counts as endless.
    fn follow(
        &mut self,
        base: NodeId,
        access: NodeId,
        mut offset: Int,
        most: usize,
    ) -> Result<(), Broken> {
        let mut path = HashSet::new();
        let mut seen_access = false;
        let mut next = base;
        while !Shape::of(self.graph, next).is_root() {
            if !path.insert(next) || path.len() > most {
                return Err((Rule::PathCycle, None));
            }
            self.check_place(next, next == access, offset)?;
            seen_access |= next == access;
            if self.format == Format::New && seen_access {
                return Ok(());
            }
            next = self.step(next, &mut offset).map_err(|rule| (rule, Some(next)))?;
        }
        if seen_access { Ok(()) } else { Err((Rule::AccessNotOnPath, None)) }
    }

    /// Checks a type on a path, and the offset into it. `accessed`: `node` is the access type.
    pub(crate) fn check_place(
        &mut self,
        node: NodeId,
        accessed: bool,
        offset: Int,
    ) -> Result<(), Broken> {
        let width = self.check_type(node).map_err(|v| (v.rule, Some(v.node)))?;
        if offset.value != 0 && (accessed || self.graph.is_old_scalar(node)) {
            return Err((Rule::OffsetAtAccess, None));
        }
        let wide_enough = match width {
            Width::Zero => offset.value == 0,
            Width::Any => true,
            Width::Bits(bits) => bits == offset.bits,
        };
        if wide_enough { Ok(()) } else { Err((Rule::OffsetWidth, None)) }
    }

    /// Returns the type of the last field that does not start after `offset`, and makes `offset`
    /// relative to that field. For a scalar, returns its parent.
    ///
    /// LLVM: `TBAAVerifier::getFieldNodeFromTBAABaseNode`. It reads a node in the tag's format,
    /// even if the node has another. In a size-aware scalar, it mistakes the scalar's *size* for
    /// the offset of a field, whose type is the parent.
    pub(crate) fn step(&self, node: NodeId, offset: &mut Int) -> Result<NodeId, Rule> {
        let shape = Shape { format: self.format, len: self.graph.operand_count(node) };
        let node_at = |at| self.graph.operand(node, at).and_then(Operand::node);
        let int_at = |at| self.graph.operand(node, at?).and_then(Operand::int);
        if shape.len == 2 {
            let old = Shape { format: Format::Old, ..shape };
            return node_at(old.parent_position()).ok_or(Rule::FieldType);
        }
        let (field, start) = if shape.fields().len() == 0 {
            (shape.parent_position(), int_at(shape.size()).ok_or(Rule::FieldOffset)?.value)
        } else {
            shape.field_at(self.graph, node, offset.value).ok_or(Rule::NoFieldAtOffset)?
        };
        let mask = if offset.bits < 64 { (1 << offset.bits) - 1 } else { u64::MAX };
        offset.value = offset.value.wrapping_sub(start) & mask;
        node_at(field).ok_or(Rule::FieldType)
    }

    /// Checks a type by itself. LLVM: `TBAAVerifier::verifyTBAABaseNode`.
    pub(crate) fn check_type(&mut self, node: NodeId) -> Result<Width, VerifyError> {
        let format = self.format;
        if self.graph.is_ascending(node) && Shape::of(self.graph, node).format == format {
            if cfg!(tbaa_self_check) {
                assert_eq!(self.check_type_anew(node), Ok(Width::Bits(64)));
            }
            return Ok(Width::Bits(64));
        }
        if let Some(&known) = self.known.bases.get(&(node, format)) {
            return known;
        }
        let verdict = self.check_type_anew(node).map_err(|rule| VerifyError { rule, node });
        self.known.bases.insert((node, format), verdict);
        verdict
    }

    fn check_type_anew(&self, node: NodeId) -> Result<Width, Rule> {
        let Check { graph, format, .. } = *self;
        let len = graph.operand_count(node);
        if len == 2 {
            return graph.is_old_scalar(node).then_some(Width::Zero).ok_or(Rule::TypeNotScalar);
        }
        let shape = Shape { format, len };
        let int_at = |at| graph.operand(node, at).and_then(Operand::int);
        if !shape.has_whole_fields() {
            return Err(Rule::TypeOperandCount);
        }
        match (format, graph.operand(node, shape.name())) {
            (Format::Old, Some(Operand::String(_))) => {}
            (Format::Old, _) => return Err(Rule::TypeName),
            (Format::New, _) => _ = shape.size().and_then(int_at).ok_or(Rule::TypeSize)?,
        }
        let mut width = Width::Any;
        let mut previous = 0;
        for at in shape.fields() {
            graph.operand(node, at).and_then(Operand::node).ok_or(Rule::FieldType)?;
            let offset = int_at(shape.offset(at)).ok_or(Rule::FieldOffset)?;
            match width {
                Width::Bits(bits) if bits != offset.bits => return Err(Rule::FieldOffsetWidth),
                _ => width = Width::Bits(offset.bits),
            }
            if offset.value < previous {
                return Err(Rule::FieldOrder);
            }
            previous = offset.value;
            if let Some(extent) = shape.extent(at) {
                int_at(extent).ok_or(Rule::FieldSize)?;
            }
        }
        Ok(width)
    }
}

/// Returns whether a type is a root or a size-aware scalar.
pub(crate) fn is_scalar(graph: &Graph, ty: NodeId) -> bool {
    let shape = Shape::of(graph, ty);
    shape.is_root() || (shape.format, shape.len) == (Format::New, 3)
}

/// Returns whether the walk from a cursor reaches `end` without passing a size-aware scalar. After
/// such a scalar, the verifier's offsets are not those of the cursors.
pub(crate) fn comes_to(graph: &Graph, walks: &Walks, cursor: u32, end: u32) -> bool {
    let forest = &walks.forest;
    let is_scalar = |cursor| is_scalar(graph, graph.node_at(walks.ty(cursor)));
    let straight = cursor == end
        || !is_scalar(end)
        || !is_scalar(cursor)
            && forest.parent(forest.climb(cursor, |cursor| !is_scalar(cursor))) == Some(end);
    straight && forest.is_ancestor(end, cursor)
}
