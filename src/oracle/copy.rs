//! Struct copies (`tbaa.struct` nodes) and other sets of accesses.

use super::alias_rule::AliasResult;
use super::conflict::Conflict;
use super::grow::Oracle;
use crate::access::{Access, AccessKind};
use crate::graph::{CopyId, TagId};

impl<G: std::borrow::Borrow<crate::graph::Graph>> Oracle<G> {
    /// Returns the accesses of a struct copy, all with the given `kind`: `Read` for its accesses to
    /// the source, `Write` for those to the destination. Returns `None` if the copy is malformed.
    ///
    /// Each access has the width of its entry ([`Access::of_width`]). The bytes between entries are
    /// padding, which the copy may skip. An entry of size 0 gives no access.
    ///
    /// # Panics
    ///
    /// If `copy` was issued by another graph.
    ///
    /// LLVM: `AAMDNodes::TBAAStruct`.
    pub fn copy_accesses(&self, copy: CopyId, kind: AccessKind) -> Option<Vec<Access>> {
        let entries = self.graph().copy(copy)?;
        let access = |entry: crate::graph::CopyEntry| {
            Access::of_width(self.graph(), entry.tag, entry.size).with_kind(kind)
        };
        // An entry of size 0 touches nothing, but an access of size 0 would have an unknown size.
        Some(entries.into_iter().filter(|entry| entry.size != 0).map(access).collect())
    }

    /// Returns whether the source or the destination of a struct copy may overlap with an access.
    ///
    /// ```
    /// use tbaa::{CopyEntry, Graph, Oracle, AliasRule};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.scalar_type("int", root)?;
    /// let float = b.scalar_type("float", root)?;
    /// let int = b.struct_tag(int, int, 0)?;
    /// let float = b.struct_tag(float, float, 0)?;
    /// let ints = b.struct_copy(&[CopyEntry { offset: 0, size: 4, tag: int }])?;
    ///
    /// let oracle = Oracle::new(&graph, AliasRule::Union);
    /// assert!(oracle.copy_may_alias(ints, int));
    /// assert!(!oracle.copy_may_alias(ints, float));
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `copy` was issued by another graph.
    pub fn copy_may_alias(&self, copy: CopyId, access: impl Into<Access>) -> bool {
        let access = access.into();
        let accesses = self.copy_accesses(copy, AccessKind::Both);
        accesses.is_none_or(|all| all.into_iter().any(|one| self.may_alias(one, access)))
    }

    /// Returns the possible dependences of a later access on a struct copy. The copy reads the
    /// source and writes the destination, with the same tags. So a later read may depend on the
    /// copy's writes, and a later write on the copy's reads and writes.
    ///
    /// # Panics
    ///
    /// If `copy` was issued by another graph.
    pub fn copy_may_conflict(&self, copy: CopyId, access: impl Into<Access>) -> Option<Conflict> {
        let access = access.into();
        let conflict = Conflict::between(AccessKind::Both, access.kind, false)?;
        self.copy_may_alias(copy, access).then_some(conflict)
    }

    /// Returns whether an access may overlap with an access that has one of the given tags.
    ///
    /// Given the tags of `!llvm.errno.tbaa`, this tells whether an access may read or change
    /// `errno`. Without any tag nothing is known, so the answer is `MayAlias`.
    ///
    /// LLVM: `TypeBasedAAResult::aliasErrno`.
    pub fn alias_any(
        &self,
        access: impl Into<Access>,
        tags: impl IntoIterator<Item = TagId>,
    ) -> AliasResult {
        let access = access.into();
        let mut tags = tags.into_iter().peekable();
        if tags.peek().is_none() || tags.any(|tag| self.may_alias(access, tag)) {
            AliasResult::MayAlias
        } else {
            AliasResult::NoAlias
        }
    }
}
