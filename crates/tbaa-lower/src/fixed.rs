//! Open lowering: tags are replaced by tags that LLVM interprets correctly, while other modules
//! access some of the memory with tags of the same root.
//!
//! The other modules' tags are fixed: they are used unchanged. From a tag's base type and offset,
//! LLVM goes to field types, and from a scalar to its parent, up to the root. Each type on this
//! path, with the offset in it, is a *cursor*. A cursor determines the next one, so all cursors
//! form a forest, to which the lowering adds nodes for private memory ([`Source::private`]). Tags
//! for other memory get existing cursors (`skeleton.rs`).

use std::borrow::Borrow;

use super::forest::Made;
use super::skeleton::Skeleton;
use super::source::Source;
use super::state::Lowering;
use tbaa::parts::Verdicts;
use tbaa::parts::table::HashMap;
use tbaa::wellformed::VerifyError;
use tbaa::{BuildError, Format, Graph, Oracle, TagId, TypeId, TypeKind};

/// The reason why tags of other modules cannot be fixed (used unchanged).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// The lowering already has sources (tags to be lowered) or fixed tags.
    #[error("tags are fixed once, before any source is lowered: use a new lowering")]
    NotNew,
    /// A source is not in the oracle's graph, or a fixed tag is not in the given graph.
    #[error(
        "a tag that another graph issued: sources are the oracle's, fixed tags those of the graph \
         given"
    )]
    ForeignTag,
    /// LLVM rejects a fixed tag.
    #[error("LLVM rejects a fixed tag: {0}")]
    Rejected(VerifyError),
    /// A fixed tag is not an old-format tag for a scalar, or a source has no root.
    #[error(
        "fixed tag {at} is no old-format access to a scalar: compile the other side without \
         `-new-struct-path-tbaa`"
    )]
    NotScalar {
        /// The tag's index in the list.
        at: usize,
    },
    /// Two fixed tags, or their sources, have different roots.
    #[error("fixed tags of two roots: a lowering can share one root with others")]
    Roots,
    /// A tag or type could not be created.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Lowering {
    /// Fixes the tags with which other modules access memory: these tags are used unchanged. The
    /// lowering may then tag memory that those modules access too.
    ///
    /// `graph` contains the other modules' tags, as clang emits them; it becomes the lowered graph.
    /// Each of `pairs` is a source (a tag of the oracle's graph that describes an access exactly)
    /// and the fixed tag for the same access. `pairs` must have all tags that other modules use,
    /// also those for accesses through a pointer to a scalar. Only tags that alias everything under
    /// the root, such as that of `char`, may be missing. [`tags_of_clang`] makes the pairs for
    /// declared types.
    ///
    /// Lowerings of other [lineages](super::Options::lineage) may tag that memory too, if they fix
    /// tags of the same types. A source that is not [private](Source::private) gets no new type:
    /// its new tag is for a type on a fixed tag's path to the root, or it gets no tag.
    ///
    /// [`tags_of_clang`]: super::tags_of_clang
    ///
    /// # Errors
    ///
    /// Returns [`FixError`]; then the lowering must not be used any more.
    pub fn fix<G: Borrow<Graph>, S: Into<Source>>(
        &mut self,
        oracle: &Oracle<G>,
        graph: Graph,
        pairs: impl IntoIterator<Item = (S, TagId)>,
    ) -> Result<(), FixError> {
        if !self.sources.is_empty() || !self.fixed.is_empty() {
            return Err(FixError::NotNew);
        }
        self.graph = graph;
        let (mut cursors, mut verdicts) = (HashMap::new(), Verdicts::default());
        for (at, (source, tag)) in pairs.into_iter().enumerate() {
            let key = source.into().key();
            if !oracle.graph().owns_tag(key.tag) || !self.graph.owns_tag(tag) {
                return Err(FixError::ForeignTag);
            }
            verdicts.check(&self.graph, tag).map_err(FixError::Rejected)?;
            let access = self.graph.tag(tag).ok().map(|tag| tag.access);
            let root = access.and_then(|access| self.graph.root_of(access));
            let from = oracle.graph().tag(key.tag).ok();
            let from = from.and_then(|tag| oracle.graph().root_of(tag.access));
            let (Some(root), Some(from)) = (root, from) else {
                return Err(FixError::NotScalar { at });
            };
            self.groups.insert(from);
            if self.roots.is_empty() {
                self.roots.push(root);
            }
            if self.roots != [root] || self.groups.len() != 1 {
                return Err(FixError::Roots);
            }
            let node = self.walk(tag, &mut cursors).ok_or(FixError::NotScalar { at })?;
            self.fixed.push((key, node));
        }
        for node in 0..self.forest.nodes.len() {
            self.make_scalar_tag(node)?;
        }
        self.rule = Some(oracle.rule());
        self.fixed_nodes = self.forest.nodes.len();
        self.skeleton = Skeleton::new(oracle.graph(), &self.forest, &self.fixed);
        self.options.format = Format::Old;
        Ok(())
    }

    /// Adds a tag's cursors to the forest, from the root down. Returns the node of the tag itself.
    fn walk(&mut self, tag: TagId, cursors: &mut HashMap<(TypeId, u64), u32>) -> Option<u32> {
        let said = self.graph.tag(tag).ok().filter(|said| said.format == Format::Old)?;
        let mut chain = Vec::new();
        let (mut ty, mut offset) = (said.base, said.offset);
        while self.graph.ty(ty).kind() != TypeKind::Root {
            chain.push((ty, offset));
            let node = self.graph.ty(ty);
            match node.kind() {
                TypeKind::Aggregate => {
                    let field = node.last_field(offset)?;
                    offset -= field.offset;
                    ty = field.ty;
                }
                TypeKind::Scalar if offset == 0 => ty = node.parent()?,
                _ => return None,
            }
        }
        let mut above = None;
        for &(ty, offset) in chain.iter().rev() {
            let node = *cursors.entry((ty, offset)).or_insert_with(|| {
                let scalar = self.graph.ty(ty).kind() == TypeKind::Scalar;
                let name = String::from_utf8_lossy(self.graph.ty(ty).name().unwrap_or_default());
                let name = if scalar { name.into_owned() } else { format!("{name}+{offset}") };
                let number = self.forest.add(above, 0, name);
                let node = &mut self.forest.nodes[number as usize];
                node.made = Some(Made { ty: scalar.then_some(ty), tag, immutable: None });
                // A cursor in a struct is usable only if a fixed tag begins there (see below).
                node.usable = scalar;
                number
            });
            above = Some(node);
        }
        let own = above?;
        let node = &mut self.forest.nodes[own as usize];
        node.usable = true;
        node.made = node.made.map(|made| if said.immutable { made } else { Made { tag, ..made } });
        Some(own)
    }

    /// Sets a node's tag: for a scalar, the tag of an access to the scalar alone; for a struct's
    /// field, the tag without the immutable flag.
    fn make_scalar_tag(&mut self, node: usize) -> Result<(), BuildError> {
        let Some(made) = &mut self.forest.nodes[node].made else { return Ok(()) };
        made.tag = match made.ty {
            Some(ty) => self.graph.builder().struct_tag(ty, ty, 0)?,
            None => self.graph.builder().mutable_tag(made.tag)?,
        };
        Ok(())
    }
}
