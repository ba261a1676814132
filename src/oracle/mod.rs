//! Asking whether two accesses may alias.
//!
//! An [`Oracle`] answers by one of the [`Rules`]. Any doubt is `MayAlias`: no
//! tag, a malformed tag, different roots, an id of another graph.

mod forest;
mod llvm;

use std::fmt;

use crate::graph::{Graph, Tag, TagId};

/// Which definition of aliasing the oracle follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Rules {
    /// What LLVM 22 answers on tags that its verifier accepts, bit for bit;
    /// `MayAlias` on others, and where LLVM would assert or crash. Sizes are
    /// ignored.
    #[default]
    Llvm,
}

/// The answer to an alias query.
///
/// LLVM: `AliasResult`, of which TBAA gives these two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AliasResult {
    /// The accesses may touch a common byte, or nothing is known.
    MayAlias,
    /// The accesses never touch a common byte.
    NoAlias,
}

impl fmt::Display for AliasResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            AliasResult::MayAlias => "MayAlias",
            AliasResult::NoAlias => "NoAlias",
        })
    }
}

/// Answers alias queries on the tags of one graph.
///
/// ```
/// use tbaa::{AliasResult, Graph, Oracle, Rules};
///
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("Simple C/C++ TBAA")?;
/// let char = b.scalar_type("omnipotent char", root)?;
/// let int = b.scalar_type("int", char)?;
/// let float = b.scalar_type("float", char)?;
/// let char = b.struct_tag(char, char, 0, false)?;
/// let int = b.struct_tag(int, int, 0, false)?;
/// let float = b.struct_tag(float, float, 0, false)?;
///
/// let oracle = Oracle::new(&graph, Rules::Llvm);
/// assert_eq!(oracle.alias(int, float), AliasResult::NoAlias);
/// assert_eq!(oracle.alias(int, char), AliasResult::MayAlias);
/// assert_eq!(oracle.alias(int, None), AliasResult::MayAlias, "no tag, no proof");
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Oracle<'g> {
    graph: &'g Graph,
    rules: Rules,
    llvm: llvm::Tags,
}

impl<'g> Oracle<'g> {
    /// Returns an oracle for the tags that `graph` holds now.
    #[must_use]
    pub fn new(graph: &'g Graph, rules: Rules) -> Self {
        Oracle { graph, rules, llvm: llvm::Tags::new(graph) }
    }

    /// Returns the graph whose tags the oracle knows.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the rules that the oracle follows.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Returns whether accesses tagged `a` and `b` may overlap.
    ///
    /// A missing tag gives `MayAlias`. So do different roots: they may be
    /// unrelated type systems, so nothing is proved. So does a tag that is
    /// malformed, or that another graph issued. The answer does not depend on
    /// the order of `a` and `b`.
    ///
    /// LLVM: `TypeBasedAAResult::alias`.
    #[must_use]
    pub fn alias(&self, a: impl Into<Option<TagId>>, b: impl Into<Option<TagId>>) -> AliasResult {
        match (a.into(), b.into()) {
            (Some(a), Some(b)) if self.graph.owns_tag(a) && self.graph.owns_tag(b) => {
                match self.rules {
                    Rules::Llvm => self.llvm.alias(self.graph, a, b),
                }
            }
            _ => AliasResult::MayAlias,
        }
    }

    /// Returns whether [`Oracle::alias`] answers `MayAlias`.
    #[must_use]
    pub fn may_alias(&self, a: impl Into<Option<TagId>>, b: impl Into<Option<TagId>>) -> bool {
        self.alias(a, b) == AliasResult::MayAlias
    }

    /// Returns whether the tag promises that its memory is never modified
    /// while it can be read.
    ///
    /// LLVM: `TypeBasedAAResult::getModRefInfoMask`.
    #[must_use]
    pub fn is_constant(&self, tag: impl Into<Option<TagId>>) -> bool {
        tag.into().is_some_and(|tag| {
            self.graph.owns_tag(tag) && self.graph.tag(tag).is_ok_and(|tag| tag.immutable)
        })
    }

    /// Returns what the tag of one access that replaces accesses `a` and `b`
    /// must say, or `None` when no tag can say it and the access must go
    /// untagged.
    ///
    /// Rule `llvm` answers what LLVM 22 answers, but for immutability: the
    /// result is immutable only if both are, where LLVM sometimes keeps one
    /// side's flag. NB: as in LLVM the result depends on the order of `a` and
    /// `b`, and where an aggregate access meets one of its fields it may be
    /// the field's tag.
    ///
    /// LLVM: `MDNode::getMostGenericTBAA`.
    #[must_use]
    pub fn most_generic(
        &self,
        a: impl Into<Option<TagId>>,
        b: impl Into<Option<TagId>>,
    ) -> Option<Tag> {
        let (a, b) = (a.into()?, b.into()?);
        if !self.graph.owns_tag(a) || !self.graph.owns_tag(b) {
            return None;
        }
        let generic = match self.rules {
            Rules::Llvm => self.llvm.most_generic(self.graph, a, b)?,
        };
        Some(Tag { immutable: self.is_constant(a) && self.is_constant(b), ..generic })
    }
}
