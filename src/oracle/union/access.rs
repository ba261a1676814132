//! An access, as the union rules read it.

use crate::access::Access;
use crate::extent::{Size, leaves};
use crate::graph::{Format, Graph, TagId, TagParts};
use crate::oracle::clause::Clause;
use crate::oracle::index::Index;
use crate::oracle::types::{TypeIndex, Types};

/// An access whose tag has been read and is sound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) base: TypeIndex,
    pub(super) access: TypeIndex,
    pub(super) offset: u64,
    /// `None` for an old-format tag without an access size: the access is as large as the last
    /// field of its path.
    pub(super) size: Option<Size>,
}

impl Resolved {
    /// Reads an access, or returns why nothing is known about it.
    pub(super) fn new(types: &Types, graph: &Graph, access: Access) -> Result<Resolved, Clause> {
        let tag = access.tag.ok_or(Clause::NoTag)?;
        if !graph.owns_tag(tag) {
            return Err(Clause::ForeignTag);
        }
        let tag = graph.tag(tag).map_err(|_| Clause::Malformed)?;
        let sound = |ty| types.index(ty).filter(|&ty| types.get(ty).sound);
        let (Some(base), Some(of_access)) = (sound(tag.base), sound(tag.access)) else {
            return Err(Clause::Malformed);
        };
        // A root has no format of its own.
        let formats = [base, of_access].map(|ty| types.get(ty).format);
        if let [Some(base), Some(access)] = formats
            && base != access
        {
            return Err(Clause::Malformed);
        }
        let size = access.given().or(tag.size);
        Ok(Resolved { base, access: of_access, offset: tag.offset, size })
    }

    /// Reads the tag of a cursor.
    pub(super) fn regular(
        graph: &Graph,
        index: &Index,
        (tag, cursor): (TagId, u32),
    ) -> Option<Resolved> {
        let (node, types) = (graph.tag_node(tag), &index.types);
        let access = types.at_node(TagParts::access(graph, node)?.index)?;
        let size = match types.get(access).format {
            Some(Format::New) => Some(TagParts::size(graph, node)?.into()),
            _ => None,
        };
        let (base, offset) = (index.walks.ty(cursor), index.walks.offset(cursor));
        Some(Resolved { base, access, offset, size })
    }

    /// Returns the format of an access's types. A root itself has none.
    pub(super) fn format(&self, types: &Types) -> Format {
        let format = |ty| types.get(ty).format;
        format(self.access).or(format(self.base)).unwrap_or(Format::Old)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Returns whether a path that ends at `ty` ends at an object of this access.
    pub(super) fn has_object(&self, types: &Types, ty: TypeIndex) -> bool {
        ty == self.base || self.is_whole() && types.is_ancestor(self.base, ty)
    }

    /// Returns whether a known size leaves the base type on every path, the shortest
    /// included: then the tag does not describe the access.
    pub(super) fn leaves(&self, types: &Types) -> bool {
        let base = types.get(self.base);
        base.format == Some(Format::New) && leaves(self.size, self.offset, base.far)
    }
}
