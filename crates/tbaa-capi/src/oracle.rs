//! Queries. What they take does not change, so threads may ask at once and none
//! waits for another.

use tbaa::{Access, AliasRule, Graph};

use crate::status::{Error, Status, answer};
use crate::text::{constant, slice};

/// A tag: what one access says of its type. 0 is no tag, of which nothing is
/// known: it may alias everything.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// Dense from 1, in order of first use: `id - 1` may index a table.
    pub id: u32,
}

/// A type node. It is no tag: C will not let one be attached in place of the
/// other. 0 is none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// From 1; ids of types and copies are not dense.
    pub id: u32,
}

/// A `tbaa.struct` node: the accesses that a copy of a struct makes. 0 is none.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// From 1; ids of types and copies are not dense.
    pub id: u32,
}

/// By which rule questions are answered: `docs/rules.md` says which one wants.
#[repr(u32)]
pub enum Rule {
    /// A spec's own rule; otherwise LLVM's.
    Default = 0,
    /// What LLVM 22 answers, bit for bit.
    Llvm = 1,
    /// Every member of a union is followed, and bytes count.
    Union = 2,
    /// As that, but a union is only accessed by name.
    UnionStrict = 3,
}

pub(crate) fn rule_of(number: u32, default: AliasRule) -> Result<AliasRule, Error> {
    constant(
        &[default, AliasRule::Llvm, AliasRule::Union, AliasRule::UnionStrict],
        number,
        "tbaa_rule",
    )
}

/// What an access, or a call, does to memory: bits of a mask.
#[repr(u32)]
pub enum Effect {
    /// It loads.
    Read = 1,
    /// It stores.
    Write = 2,
    /// Both, or not known; so does 0 in a `tbaa_memory_access`.
    Both = 3,
}

/// Which dependences may hold between an access and one after it: bits of a
/// mask.
#[repr(u32)]
pub enum Conflicts {
    /// The second reads what the first wrote.
    ReadAfterWrite = 1,
    /// The second overwrites what the first read.
    WriteAfterRead = 2,
    /// The second overwrites what the first wrote.
    WriteAfterWrite = 4,
}

/// An access to memory, as far as types say anything about it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryAccess {
    /// The tag; 0 for one of which nothing is known.
    pub tag: Tag,
    /// What it does, of `tbaa_effect`; 0 is taken for both.
    pub kind: u32,
    /// Bytes, in place of what the tag says: a vector load under the tag of its
    /// first lane. 0 for the tag's own, `UINT64_MAX` for unknown.
    pub size: u64,
}

/// Answers questions about the tags of one graph. Functions that take a `const
/// tbaa_oracle *` may run on many threads at once.
pub struct Oracle {
    pub(crate) inner: tbaa::Oracle<Graph>,
    /// Whether it is a snapshot, counted by `retain` and `release`.
    pub(crate) shared: bool,
}

/// Threads ask an oracle at once.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<Oracle>();
};

impl Oracle {
    pub(crate) fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    /// Returns the tag of an id; `None` of 0 and of an id that is not known,
    /// which may alias everything.
    #[inline]
    pub(crate) fn tag(&self, tag: Tag) -> Option<tbaa::TagId> {
        self.graph().tag_at((tag.id as usize).wrapping_sub(1))
    }

    pub(crate) fn known_tag(&self, tag: Tag) -> Result<tbaa::TagId, Error> {
        self.tag(tag).ok_or_else(|| unknown("tag", tag.id))
    }

    /// Returns whether two accesses may overlap, whatever they do.
    #[inline(always)]
    fn overlap(&self, a: MemoryAccess, b: MemoryAccess) -> bool {
        if a.size != 0 || b.size != 0 {
            return self.inner.may_alias(self.access(a), self.access(b));
        }
        match (self.tag(a.tag), self.tag(b.tag)) {
            (Some(a), Some(b)) => self.inner.may_alias(a, b),
            _ => true,
        }
    }

    /// The access; what it does is looked at here alone.
    pub(crate) fn access(&self, access: MemoryAccess) -> Access {
        let mut found = Access::from(self.tag(access.tag));
        found.size = (access.size != 0).then(|| access.size.into());
        found
    }
}

pub(crate) fn unknown(what: &str, id: u32) -> Error {
    let message = match id {
        0 => format!("{what} 0 is none: give one"),
        _ => format!("{what} {id} is not known here: was it made by another context, or later?"),
    };
    Error::new(Status::UnknownId, message)
}

pub(crate) fn known_type(graph: &Graph, ty: Type) -> Result<tbaa::TypeId, Error> {
    let node = graph.nth_node((ty.id as usize).wrapping_sub(1));
    node.and_then(|node| graph.type_of(node)).ok_or_else(|| unknown("type", ty.id))
}

pub(crate) fn known_copy(graph: &Graph, copy: Copy) -> Result<tbaa::CopyId, Error> {
    let node = graph.nth_node((copy.id as usize).wrapping_sub(1));
    node.and_then(|node| graph.copy_of(node)).ok_or_else(|| unknown("copy", copy.id))
}

/// Returns the id of a position. Graphs hold less than 2^29 nodes.
fn id_of(position: usize) -> u32 {
    u32::try_from(position + 1).unwrap_or(0)
}

impl From<tbaa::TagId> for Tag {
    fn from(tag: tbaa::TagId) -> Tag {
        Tag { id: id_of(tag.index()) }
    }
}

impl From<tbaa::TypeId> for Type {
    fn from(ty: tbaa::TypeId) -> Type {
        Type { id: id_of(ty.node().index()) }
    }
}

impl From<tbaa::CopyId> for Copy {
    fn from(copy: tbaa::CopyId) -> Copy {
        Copy { id: id_of(copy.node().index()) }
    }
}

impl MemoryAccess {
    /// Returns what it does, as `Effect` has it.
    #[inline]
    pub(crate) fn effect(self) -> u32 {
        if matches!(self.kind, 1 | 2) { self.kind } else { 3 }
    }
}

/// Returns the dependences between accesses of two kinds to one memory, as
/// `Conflicts` has them.
#[inline]
pub(crate) fn conflicts(first: u32, second: u32) -> u32 {
    let (read, write) = (Effect::Read as u32, Effect::Write as u32);
    let both = |a, b| u32::from(first & a != 0 && second & b != 0);
    both(write, read) | both(read, write) << 1 | both(write, write) << 2
}

/// All bits of `tbaa_conflict`.
pub(crate) const ANY_CONFLICT: u32 = 7;

/// Returns whether accesses with two tags may overlap. True in any doubt: no
/// tag, one that is not known here or ill formed, different roots, NULL.
///
/// It reads a few words of tables and allocates nothing, but for the few tags
/// that `docs/rules.md` lists under "Limits".
///
/// LLVM: `TypeBasedAAResult::alias`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_may_alias(oracle: Option<&Oracle>, a: Tag, b: Tag) -> bool {
    answer(true, || {
        let oracle = oracle?;
        Some(oracle.inner.may_alias(oracle.tag(a)?, oracle.tag(b)?))
    })
}

/// Returns whether two accesses may overlap, as `tbaa_may_alias`. A size of the
/// access's own counts under the union rules; LLVM's rule does not look at it.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_access_may_alias(
    oracle: Option<&Oracle>,
    a: MemoryAccess,
    b: MemoryAccess,
) -> bool {
    answer(true, || Some(oracle?.overlap(a, b)))
}

/// Returns which dependences may hold between an access and one that comes after
/// it, as bits of `tbaa_conflict`: 0 if they cannot overlap, or only read.
/// All bits for a NULL oracle.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_may_conflict(
    oracle: Option<&Oracle>,
    first: MemoryAccess,
    second: MemoryAccess,
) -> u32 {
    answer(ANY_CONFLICT, || {
        let oracle = oracle?;
        let found = conflicts(first.effect(), second.effect());
        Some(if found != 0 && oracle.overlap(first, second) { found } else { 0 })
    })
}

/// Returns what a call may do to the memory of an access, as bits of
/// `tbaa_effect`, given all that it does: 0 if it leaves that memory alone.
/// A call of which nothing is known has one effect, with tag 0.
///
/// What the access itself does is not asked for. Both bits for a NULL oracle, or
/// where the effects are NULL though their count is not 0.
///
/// LLVM: `AAResults::getModRefInfo`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_call_effects(
    oracle: Option<&Oracle>,
    access: MemoryAccess,
    effects: *const MemoryAccess,
    count: usize,
) -> u32 {
    answer(3, || {
        let oracle = oracle?;
        // SAFETY: the caller promises `count` effects.
        let effects = unsafe { slice(effects, count, "effects") }.ok()?;
        let mut found = 0;
        for &effect in effects {
            let kind = effect.effect();
            if found & kind != kind && oracle.overlap(access, effect) {
                found |= kind;
            }
            if found == 3 {
                break;
            }
        }
        Some(found)
    })
}

/// Returns whether a tag promises that its memory is never modified while it can
/// be read. False in any doubt.
///
/// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_is_constant(oracle: Option<&Oracle>, tag: Tag) -> bool {
    answer(false, || {
        let oracle = oracle?;
        Some(oracle.inner.is_constant(oracle.tag(tag)))
    })
}

/// Returns the number of tags that the oracle knows: their ids are 1 to that.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_tag_count(oracle: Option<&Oracle>) -> u32 {
    answer(0, || Some(u32::try_from(oracle?.graph().tag_count()).unwrap_or(u32::MAX)))
}
