//! Dependences: two accesses conflict if they may overlap and one of them writes.

use std::borrow::Borrow;
use std::fmt;

use super::grow::Oracle;
use crate::access::{Access, AccessKind};
use crate::graph::Graph;

/// The possible dependences of a second access on a first one. At least one field is true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Conflict {
    /// The second access reads what the first wrote.
    pub read_after_write: bool,
    /// The second access overwrites what the first read.
    pub write_after_read: bool,
    /// The second access overwrites what the first wrote.
    pub write_after_write: bool,
}

impl Conflict {
    /// Returns the dependences between accesses of two kinds to the same memory, if there are any.
    /// `promised` means that nothing writes the memory after the first access reads it.
    pub(super) fn between(
        first: AccessKind,
        second: AccessKind,
        promised: bool,
    ) -> Option<Conflict> {
        let conflict = Conflict {
            read_after_write: first.writes() && second.reads(),
            write_after_read: first.reads() && second.writes() && !promised,
            write_after_write: first.writes() && second.writes(),
        };
        let Conflict { read_after_write, write_after_read, write_after_write } = conflict;
        (read_after_write || write_after_read || write_after_write).then_some(conflict)
    }

    pub(super) fn or(self, other: Conflict) -> Conflict {
        Conflict {
            read_after_write: self.read_after_write || other.read_after_write,
            write_after_read: self.write_after_read || other.write_after_read,
            write_after_write: self.write_after_write || other.write_after_write,
        }
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [
            (self.read_after_write, "read after write"),
            (self.write_after_read, "write after read"),
            (self.write_after_write, "write after write"),
        ];
        let held: Vec<_> = words.iter().filter(|(held, _)| *held).map(|(_, word)| *word).collect();
        f.pad(&held.join(", "))
    }
}

impl<G: Borrow<Graph>> Oracle<G> {
    /// Returns the possible dependences of access `second` on an earlier access `first`, or `None`
    /// if there are none.
    ///
    /// If the tag of `first` is immutable, no later write depends on the read of `first`: nothing
    /// modifies such memory once it can be read. If the tag of `second` is immutable, the read of
    /// `second` may still depend on the write of `first`, which may initialise the memory. LLVM
    /// moves such a read across the write; [`Oracle::is_constant`] tells whether it may be moved.
    ///
    /// ```
    /// use tbaa::{Access, Graph, Oracle, AliasRule};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let int = b.scalar_type("int", root)?;
    /// let int = Access::from(b.struct_tag(int, int, 0)?);
    ///
    /// let oracle = Oracle::new(&graph, AliasRule::Union);
    /// assert_eq!(oracle.may_conflict(int.reading(), int.reading()), None);
    /// let conflict = oracle.may_conflict(int.reading(), int.writing()).unwrap();
    /// assert_eq!(conflict.to_string(), "write after read");
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    ///
    /// LLVM: `TypeBasedAAResult::alias`, `TypeBasedAAResult::getModRefInfoMask`.
    pub fn may_conflict(
        &self,
        first: impl Into<Access>,
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let (first, second) = (first.into(), second.into());
        let conflict = Conflict::between(first.kind, second.kind, self.is_constant(first.tag))?;
        self.may_alias(first, second).then_some(conflict)
    }

    /// Returns the possible dependences of access `second` on any of several earlier accesses, such
    /// as those of a call. For a call whose accesses are unknown, pass one access without a tag.
    ///
    /// ```
    /// use tbaa::{Access, Graph, Oracle, AliasRule};
    ///
    /// let mut graph = Graph::new();
    /// let mut b = graph.builder();
    /// let root = b.root("R")?;
    /// let (int, float) = (b.scalar_type("int", root)?, b.scalar_type("float", root)?);
    /// let int = Access::from(b.struct_tag(int, int, 0)?);
    /// let float = Access::from(b.struct_tag(float, float, 0)?);
    ///
    /// let oracle = Oracle::new(&graph, AliasRule::Llvm);
    /// let call = [int.reading(), float.writing()];
    /// assert_eq!(oracle.may_conflict_any(&call, int.reading()), None);
    /// let conflict = oracle.may_conflict_any(&call, float.reading()).unwrap();
    /// assert_eq!(conflict.to_string(), "read after write");
    /// assert_eq!(oracle.may_conflict_any(&[], float), None, "a pure function");
    /// assert!(oracle.may_conflict_any(&[Access::default()], int.reading()).is_some());
    /// # Ok::<(), tbaa::BuildError>(())
    /// ```
    pub fn may_conflict_any(
        &self,
        firsts: &[Access],
        second: impl Into<Access>,
    ) -> Option<Conflict> {
        let second = second.into();
        firsts.iter().filter_map(|&first| self.may_conflict(first, second)).reduce(Conflict::or)
    }
}
