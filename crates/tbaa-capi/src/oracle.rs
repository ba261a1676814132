//! Queries. They modify nothing, so threads may run them at the same time without waiting.

use tbaa::{Access, AliasRule, Graph};

use crate::status::{Error, Status, answer};
use crate::text::{constant, slice};

/// A tag: by which type an access reaches memory. 0 means no tag: the access may alias everything.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// Ids count from 1, in the order in which tags were made: `id - 1` may index a table.
    pub id: u32,
}

/// A type node. `tbaa_type` and `tbaa_tag` are different C types, so that neither can be passed for
/// the other. 0 means no type.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Type {
    /// Ids count from 1, with gaps.
    pub id: u32,
}

/// A `tbaa.struct` node: the accesses that a copy of a struct makes. 0 means no node.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// Ids count from 1, with gaps.
    pub id: u32,
}

/// The rule by which queries are answered: `docs/rules.md` helps to choose.
#[repr(u32)]
pub enum Rule {
    /// For `tbaa_context_load` the spec's own rule, for `tbaa_context_snapshot` the context's,
    /// otherwise LLVM's.
    Default = 0,
    /// LLVM 22's rule. Every answer equals LLVM's.
    Llvm = 1,
    /// Compares the accessed bytes, and follows every member of a union.
    Union = 2,
    /// Like `TBAA_RULE_UNION`, for programs in which every union access names its member.
    UnionStrict = 3,
}

pub(crate) fn rule_of(number: u32, default: AliasRule) -> Result<AliasRule, Error> {
    constant(
        &[default, AliasRule::Llvm, AliasRule::Union, AliasRule::UnionStrict],
        number,
        "tbaa_rule",
    )
}

/// The effect of an access or a call on memory: bits of a mask.
#[repr(u32)]
pub enum Effect {
    /// The access or call loads.
    Read = 1,
    /// The access or call stores.
    Write = 2,
    /// Both, or the effect is unknown. 0 in a `tbaa_memory_access` means the same.
    Both = 3,
}

/// The possible dependences of a second access on a first: bits of a mask.
#[repr(u32)]
pub enum Conflicts {
    /// The second reads what the first wrote.
    ReadAfterWrite = 1,
    /// The second overwrites what the first read.
    WriteAfterRead = 2,
    /// The second overwrites what the first wrote.
    WriteAfterWrite = 4,
}

/// An access to memory, described by its tag.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemoryAccess {
    /// The tag; 0 if nothing is known.
    pub tag: Tag,
    /// A `tbaa_effect`; 0 means both.
    pub kind: u32,
    /// The size in bytes that replaces the tag's, for example for a vector load under the tag of
    /// its first lane. 0 for the tag's own size, `UINT64_MAX` for an unknown size.
    pub size: u64,
}

/// Answers queries about the tags of a context or snapshot. Functions that take a `tbaa_oracle`
/// pointer may run on many threads at once.
pub struct Oracle {
    pub(crate) inner: tbaa::Oracle<Graph>,
    /// True for a snapshot: `tbaa_oracle_retain` and `tbaa_oracle_release` count its holders.
    pub(crate) shared: bool,
}

/// Checks at compile time that threads may use an oracle at the same time.
const _: () = {
    const fn may_be_shared<T: Send + Sync>() {}
    may_be_shared::<Oracle>();
};

impl Oracle {
    pub(crate) fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    /// Returns the tag with an id; `None` for 0 or an unknown id.
    #[inline]
    pub(crate) fn tag(&self, tag: Tag) -> Option<tbaa::TagId> {
        self.graph().tag_at((tag.id as usize).wrapping_sub(1))
    }

    pub(crate) fn known_tag(&self, tag: Tag) -> Result<tbaa::TagId, Error> {
        self.tag(tag).ok_or_else(|| unknown("tag", tag.id))
    }

    /// Returns whether two accesses may overlap, whatever their effects.
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

    /// Converts an access. The effect (`kind`) is dropped, and an unknown tag becomes no tag.
    pub(crate) fn access(&self, access: MemoryAccess) -> Access {
        access.of(self.tag(access.tag))
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

/// Returns `position + 1`, an id. It fits in a `u32`, because graphs have at most 2^29 nodes.
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
    /// Returns an access with this tag and the size of `self`. The effect (`kind`) is dropped.
    pub(crate) fn of(self, tag: Option<tbaa::TagId>) -> Access {
        let mut access = Access::from(tag);
        access.size = (self.size != 0).then(|| self.size.into());
        access
    }

    /// Returns the effect, as bits of `Effect`. A `kind` other than 1 and 2 means both.
    #[inline]
    pub(crate) fn effect(self) -> u32 {
        if matches!(self.kind, 1 | 2) { self.kind } else { 3 }
    }
}

/// Returns the possible dependences of a second access on a first to the same memory, as bits of
/// `Conflicts`. `first` and `second` are the effects of the accesses.
#[inline]
pub(crate) fn conflicts(first: u32, second: u32) -> u32 {
    let (read, write) = (Effect::Read as u32, Effect::Write as u32);
    let both = |a, b| u32::from(first & a != 0 && second & b != 0);
    both(write, read) | both(read, write) << 1 | both(write, write) << 2
}

pub(crate) const ANY_CONFLICT: u32 = 7;

/// Returns whether two accesses with these tags may overlap. In doubt it returns true: without a
/// tag, for a tag that is malformed or unknown to the oracle, for different roots, and for a NULL
/// oracle.
///
/// It reads a few words of tables and allocates nothing, except for the few tags that
/// `docs/rules.md` lists under "Limits".
///
/// LLVM: `TypeBasedAAResult::alias`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_may_alias(oracle: Option<&Oracle>, a: Tag, b: Tag) -> bool {
    answer(true, || {
        let oracle = oracle?;
        Some(oracle.inner.may_alias(oracle.tag(a)?, oracle.tag(b)?))
    })
}

/// Returns whether two accesses may overlap, as `tbaa_may_alias` does. `TBAA_RULE_UNION` and
/// `TBAA_RULE_UNION_STRICT` use an access's own `size`; LLVM's rule ignores it.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_access_may_alias(
    oracle: Option<&Oracle>,
    a: MemoryAccess,
    b: MemoryAccess,
) -> bool {
    answer(true, || Some(oracle?.overlap(a, b)))
}

/// Returns the possible dependences of a second access on a first, as bits of `tbaa_conflict`: 0 if
/// they cannot overlap, or both only read. All bits for a NULL oracle.
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

/// Returns a call's effects on the memory of an access, as bits of `tbaa_effect`: 0 if the call
/// does not touch that memory. `effects` lists all accesses that the call may make. If nothing is
/// known about the call, pass one effect with tag 0.
///
/// The access's own effect is ignored. Both bits for a NULL oracle, or if the effects are NULL and
/// their count is not 0.
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

/// Returns whether a tag promises that its memory is never modified while it can be read. False in
/// any doubt.
///
/// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_is_constant(oracle: Option<&Oracle>, tag: Tag) -> bool {
    answer(false, || {
        let oracle = oracle?;
        Some(oracle.inner.is_constant(oracle.tag(tag)))
    })
}

/// Returns the number of tags that the oracle knows: their ids are 1 to this number.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_tag_count(oracle: Option<&Oracle>) -> u32 {
    answer(0, || Some(u32::try_from(oracle?.graph().tag_count()).unwrap_or(u32::MAX)))
}
