//! Ids of nodes, types, tags and copies (`tbaa.struct` nodes).
//!
//! An id contains an index and the stamp of its graph, a unique number. So the use of an id with
//! another graph is detected. [`Graph`](crate::Graph#ids-of-another-graph) describes the
//! consequences.

use std::fmt;

/// Identifies one metadata node of one [`Graph`](crate::Graph), whatever the node's role.
///
/// An id stays valid as long as its graph exists: adding a node never moves another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    pub(crate) index: u32,
    #[doc(hidden)]
    pub stamp: u32,
}

/// Identifies a type node: a root, a scalar or an aggregate.
///
/// `TypeId` and [`TagId`] are different types on purpose. With LLVM's untyped `MDNode`s, a common
/// mistake is to attach a type where a tag belongs (releases of Ravi, Chapel and MLton had this
/// mistake). Here such code does not compile:
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

/// Identifies an access tag. The indices of tags are consecutive, in the order in which the nodes
/// became tags, so [`TagId::index`] can be used as an index into a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId {
    pub(crate) index: u32,
    pub(crate) stamp: u32,
}

/// Identifies a `tbaa.struct` node: the list of accesses that a struct copy makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CopyId(pub(crate) NodeId);

impl NodeId {
    /// Returns the node's position in [`Graph::nodes`](crate::Graph::nodes).
    pub fn index(self) -> usize {
        self.index as usize
    }
}

impl TypeId {
    /// Returns the id of a node as a type, even if the node is not marked as a type.
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

    /// Returns the tag's position if its graph has this stamp, and otherwise a number above all
    /// positions. So one comparison with the number of tags rejects tags of other graphs.
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
