//! An access, as the union rules read it.

use super::types::{TypeIndex, Types};
use crate::graph::{Format, Graph};
use crate::oracle::access::Access;
use crate::oracle::clause::Clause;

/// An access whose tag has been read and found sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) base: TypeIndex,
    pub(crate) access: TypeIndex,
    pub(crate) offset: u64,
    /// Bytes; `None` when unknown.
    pub(crate) size: Option<u64>,
}

impl Resolved {
    /// Reads an access, or says why nothing is known about it.
    pub(crate) fn new(types: &Types, graph: &Graph, access: Access) -> Result<Resolved, Clause> {
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
        let size = access.size.or(tag.size).filter(|&size| size != 0 && size != u64::MAX);
        Ok(Resolved { base, access: of_access, offset: tag.offset, size })
    }

    /// The format of an access's types; a root has none of its own.
    pub(crate) fn format(&self, types: &Types) -> Format {
        let format = |ty| types.get(ty).format;
        format(self.access).or(format(self.base)).unwrap_or(Format::Old)
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.base == self.access
    }

    /// Whether a path that ends at `ty` ends at an object of this access.
    pub(crate) fn has_object(&self, types: &Types, ty: TypeIndex) -> bool {
        ty == self.base || self.is_whole() && types.is_ancestor(self.base, ty)
    }
}
