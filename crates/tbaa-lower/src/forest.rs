//! The forest of types for tags that LLVM interprets correctly (lowered tags), and its metadata.

use tbaa::{BuildError, Format, Graph, Tag, TagId, TypeId};

/// A node of the forest. Tags at a node may alias tags at it, its ancestors and its descendants.
#[derive(Clone, Debug)]
pub(super) struct ForestNode {
    /// The parent, which has a lower index.
    pub(super) above: Option<u32>,
    /// The number of nodes on the path from the top to this one, both included.
    pub(super) depth: u32,
    /// The index of the root above the node.
    pub(super) group: u32,
    /// The name of the node's type.
    pub(super) name: String,
    /// True if tags can be at this node. False for a struct's field that is only on the path from
    /// another module's tag to the root, but has no tag itself.
    pub(super) usable: bool,
    /// The node's metadata, or `None` before [`Forest::make`].
    pub(super) made: Option<Made>,
}

/// The metadata of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// The type of this node, which can be a parent of other types. `None` for a struct's field.
    pub(super) ty: Option<TypeId>,
    pub(super) tag: TagId,
    /// The tag with the immutable flag, if it was requested.
    pub(super) immutable: Option<TagId>,
}

/// Where a class goes. A class is a set of tags to be lowered that may alias the same other tags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// A new child of this node, or of the root for `None`.
    Below(Option<u32>),
    /// This existing node, because the class may alias tags on two branches below the node, or
    /// because other modules tag the same memory. For `None` the class gets no tag.
    At(Option<u32>),
}

/// The nodes of all trees. Each node comes after its parent.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    pub(super) nodes: Vec<ForestNode>,
}

impl Forest {
    pub(super) fn depth(&self, node: Option<u32>) -> usize {
        node.map_or(0, |node| self.nodes[node as usize].depth as usize)
    }

    /// Returns a node and its ancestors, from the node up.
    pub(super) fn up(&self, node: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(node, |&node| self.nodes[node as usize].above)
    }

    pub(super) fn is_above(&self, high: u32, low: u32) -> bool {
        let depth = self.nodes[high as usize].depth;
        self.up(Some(low))
            .take_while(|&at| self.nodes[at as usize].depth >= depth)
            .any(|at| at == high)
    }

    /// Returns whether LLVM answers MayAlias for tags at two nodes.
    pub(super) fn comparable(&self, a: u32, b: u32) -> bool {
        self.nodes[a as usize].group != self.nodes[b as usize].group
            || self.is_above(a, b)
            || self.is_above(b, a)
    }

    /// Returns the nearest common ancestor of two nodes, if any. A node is an ancestor of itself.
    pub(super) fn common(&self, a: u32, b: u32) -> Option<u32> {
        self.up(Some(a)).find(|&at| self.is_above(at, b))
    }

    /// Returns the lowest position comparable to all nodes in `marks`, which are under one root.
    pub(super) fn position(&self, marks: &[u32]) -> Position {
        let depth = |&&at: &&u32| (self.nodes[at as usize].depth, u32::MAX - at);
        let Some(&deepest) = marks.iter().max_by_key(depth) else {
            return Position::Below(None);
        };
        let mut others = marks.iter().filter(|&&mark| !self.is_above(mark, deepest)).peekable();
        match others.peek() {
            None => Position::Below(Some(deepest)),
            Some(_) => Position::At(others.try_fold(deepest, |at, &mark| self.common(at, mark))),
        }
    }

    /// Returns the node, or its nearest ancestor, that is comparable to all nodes in `marks`.
    pub(super) fn stand(&self, node: Option<u32>, marks: &[u32]) -> Option<u32> {
        marks.iter().try_fold(node?, |at, &mark| {
            if self.comparable(at, mark) { Some(at) } else { self.common(at, mark) }
        })
    }

    /// Returns the node, or its nearest ancestor, that can hold tags.
    pub(super) fn usable(&self, node: Option<u32>) -> Option<u32> {
        self.up(node).find(|&at| self.nodes[at as usize].usable)
    }

    /// Returns whether a node, or the root for `None`, may have new children.
    pub(super) fn takes_children(&self, node: Option<u32>) -> bool {
        node.is_none_or(|node| {
            let node = &self.nodes[node as usize];
            node.usable && node.made.is_none_or(|made| made.ty.is_some())
        })
    }

    pub(super) fn add(&mut self, above: Option<u32>, group: u32, name: String) -> u32 {
        let depth = self.depth(above) as u32 + 1;
        self.nodes.push(ForestNode { above, depth, group, name, usable: true, made: None });
        self.nodes.len() as u32 - 1
    }

    /// Makes the metadata of a node. Its ancestors must already have metadata.
    pub(super) fn make(
        &mut self,
        node: u32,
        graph: &mut Graph,
        roots: &[TypeId],
        format: Format,
    ) -> Result<(), BuildError> {
        let ForestNode { above, group, ref name, .. } = self.nodes[node as usize];
        let parent = match above {
            Some(above) => self.nodes[above as usize].made.and_then(|made| made.ty),
            None => Some(roots[group as usize]),
        };
        let parent = parent.expect("nodes are hung below types alone");
        let mut b = graph.builder();
        let (ty, tag) = match format {
            Format::Old => {
                let ty = b.scalar_type(name, parent)?;
                (ty, b.struct_tag(ty, ty, 0)?)
            }
            Format::New => {
                let ty = b.sized_type(parent, 1, name, &[])?;
                // Size 0 means unknown, so LLVM drops the tag when it splits the access. If the tag
                // had a size, LLVM would make a tag with an offset into the scalar.
                (ty, b.access_tag(ty, ty, 0, 0)?)
            }
        };
        self.nodes[node as usize].made = Some(Made { ty: Some(ty), tag, immutable: None });
        Ok(())
    }

    /// Returns a node's tag, with or without the immutable flag. Makes the flagged tag if needed.
    pub(super) fn tag(
        &mut self,
        node: u32,
        immutable: bool,
        graph: &mut Graph,
    ) -> Result<TagId, BuildError> {
        let made = self.nodes[node as usize].made.as_mut().expect("the node was made");
        if !immutable {
            return Ok(made.tag);
        }
        if let Some(tag) = made.immutable {
            return Ok(tag);
        }
        let plain = graph.tag(made.tag).expect("the tag was made here");
        let tag = graph.builder().tag(Tag { immutable: true, ..plain })?;
        made.immutable = Some(tag);
        Ok(tag)
    }
}
