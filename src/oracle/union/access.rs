//! The form in which rules `union` and `union-strict` use an access: types, offset and size.

use crate::access::Access;
use crate::extent::{Size, leaves};
use crate::graph::{Format, Graph, TagId, TagParts};
use crate::oracle::clause::Clause;
use crate::oracle::index::Index;
use crate::oracle::types::{TypeIndex, Types};

/// An access whose tag has only sound types: well formed, of one format and not recursive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    pub(super) base: TypeIndex,
    pub(super) access: TypeIndex,
    pub(super) offset: u64,
    /// `None` for an old-format tag if the access has no size of its own. The access is then as
    /// large as the last field of its path.
    pub(super) size: Option<Size>,
}

impl Resolved {
    /// Reads an access. Fails if its tag is missing, foreign or malformed.
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
        // A root has no format, so only formats of other types can differ.
        let formats = [base, of_access].map(|ty| types.get(ty).format);
        if let [Some(base), Some(access)] = formats
            && base != access
        {
            return Err(Clause::Malformed);
        }
        let size = access.given().or(tag.size);
        Ok(Resolved { base, access: of_access, offset: tag.offset, size })
    }

    /// Reads a *regular* tag, which has only one path. `cursor` has the tag's base type and offset.
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

    /// Returns the format of an access's types, or `Old` if both are roots.
    pub(super) fn format(&self, types: &Types) -> Format {
        let format = |ty| types.get(ty).format;
        format(self.access).or(format(self.base)).unwrap_or(Format::Old)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Returns whether `ty` is the base type or, if the access is to the whole of it, a descendant.
    pub(super) fn has_object(&self, types: &Types, ty: TypeIndex) -> bool {
        ty == self.base || self.is_whole() && types.is_ancestor(self.base, ty)
    }

    /// Returns whether the access has a known size and extends past its size-aware base type.
    pub(super) fn leaves(&self, types: &Types) -> bool {
        let base = types.get(self.base);
        base.format == Some(Format::New) && leaves(self.size, self.offset, base.far)
    }
}
