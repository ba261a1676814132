//! Checked 32-bit ids.
//!
//! An id is an index plus the stamp of its graph, so that an id used with another graph is detected
//! instead of naming an unrelated node. [`Graph`](crate::Graph#ids-of-another-graph) describes the
//! consequences.

use std::fmt;

/// Names one metadata node of one [`Graph`](crate::Graph), whatever its role.
///
/// Ids stay valid for the life of the graph: adding never moves a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    pub(crate) index: u32,
    #[doc(hidden)]
    pub stamp: u32,
}

/// Names a type node: a root, a scalar or an aggregate.
///
/// A `TypeId` and a [`TagId`] are different types on purpose. Attaching a type
/// where a tag belongs is the commonest mistake with LLVM's untyped `MDNode`s
/// (Ravi, Chapel and MLton all shipped it); here it does not compile:
///
/// ```compile_fail,E0308
/// # use tbaa::Graph;
/// let mut graph = Graph::new();
/// let mut b = graph.builder();
/// let root = b.root("R")?;
/// let int = b.scalar_type("int", root)?;
/// let entry: (u64, u64, tbaa::TagId) = (0, 4, int); // a type is not a tag
/// # Ok::<(), tbaa::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub(crate) NodeId);

/// Names an access tag. Tags are numbered densely in the order in which they
/// first became tags, so [`TagId::index`] may index a side table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId {
    pub(crate) index: u32,
    pub(crate) stamp: u32,
}

/// Names a `tbaa.struct` node: the list of accesses that a struct copy makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CopyId(pub(crate) NodeId);

impl NodeId {
    /// Returns the node's position in [`Graph::nodes`](crate::Graph::nodes).
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl TypeId {
    /// Treats any node of a graph as a type, for lints of nodes that no tag reaches.
    #[doc(hidden)]
    pub fn of_node(node: NodeId) -> TypeId {
        TypeId(node)
    }

    /// Returns the type's metadata node.
    pub fn node(self) -> NodeId {
        self.0
    }
}

impl TagId {
    /// Returns the tag's position in [`Graph::tags`](crate::Graph::tags).
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the tag's position if its graph has the stamp, and otherwise a number beyond all
    /// positions: one comparison detects both foreign tags and those that are too new.
    #[inline]
    pub(crate) fn index_in(self, stamp: u32) -> u64 {
        ((u64::from(self.stamp) << 32) | u64::from(self.index)) ^ (u64::from(stamp) << 32)
    }
}

impl CopyId {
    /// Returns the copy's metadata node.
    pub fn node(self) -> NodeId {
        self.0
    }
}

macro_rules! debug_as {
    ($($id:ident => $word:literal, $index:expr;)*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let index: fn(&$id) -> u32 = $index;
                write!(f, concat!($word, "{}"), index(self))
            }
        }
    )*};
}

debug_as! {
    NodeId => "node", |id| id.index;
    TypeId => "type", |id| id.0.index;
    TagId => "tag", |id| id.index;
    CopyId => "copy", |id| id.0.index;
}
