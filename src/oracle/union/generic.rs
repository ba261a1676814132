//! The most generic tag of two.

use std::collections::HashSet;

use super::Engine;
use super::access::Resolved;
use super::types::TypeIndex;
use crate::graph::{Format, Graph, Tag, TagId};

impl Engine {
    /// Returns a tag that may alias whatever `a` or `b` may alias, now and in
    /// whatever types are added later; `None` where the engine finds none.
    ///
    /// Tags of one path give that path, with a size that covers both. Others
    /// give a whole tag of a common ancestor, as in LLVM, but the lowest one
    /// that also covers all else inside the two base types: where a union
    /// brings in a type from elsewhere, an access to that may alias too.
    pub(super) fn most_generic(&self, graph: &Graph, a: TagId, b: TagId) -> Option<Tag> {
        let (of_a, of_b) =
            (self.resolve(graph, a.into()).ok()?, self.resolve(graph, b.into()).ok()?);
        let (tag_a, tag_b) = (graph.tag(a).ok()?, graph.tag(b).ok()?);
        if a == b {
            return Some(tag_a);
        }
        // A malformed tag aliases everything, and so must its replacement.
        let (bytes_a, bytes_b) = (self.denotes(&of_a)?, self.denotes(&of_b)?);
        let size = (tag_a.format == Format::New).then(|| covering(of_a.size, of_b.size));
        let path = |access: &Resolved| (access.base, access.access, access.offset);
        // A tag without a byte aliases itself, but no other tag of its path.
        if path(&of_a) == path(&of_b) && bytes_a && bytes_b {
            return Some(Tag { size, immutable: false, ..tag_a });
        }
        if tag_a.format != tag_b.format {
            return None;
        }
        let common = self
            .types
            .ancestors(of_a.access)
            .filter(|&upper| self.types.is_ancestor(upper, of_b.access))
            .find(|&upper| {
                self.is_taggable(upper)
                    && [of_a.base, of_b.base].iter().all(|&base| self.covers_all(upper, base))
            })?;
        let base = self.types.get(common).id;
        Some(Tag {
            base,
            access: base,
            offset: 0,
            // From an aggregate's parent the bytes may lie anywhere.
            size: size.map(|_| covering(Some(0), None)),
            immutable: false,
            format: tag_a.format,
        })
    }

    /// Whether a whole tag of the type is well formed.
    fn is_taggable(&self, ty: TypeIndex) -> bool {
        let ty = self.types.get(ty);
        match ty.format {
            None => false,
            Some(Format::Old) => ty.scalar,
            Some(Format::New) => true,
        }
    }

    /// Whether each type inside `base` that may be accessed has `upper` among
    /// its ancestors or, in the old format, somewhere below it: an old
    /// aggregate has no parent, but a path that ends at it goes on.
    fn covers_all(&self, upper: TypeIndex, base: TypeIndex) -> bool {
        let new = self.types.get(upper).format == Some(Format::New);
        let mut seen = HashSet::from([base]);
        let mut work = vec![base];
        while let Some(ty) = work.pop() {
            if self.types.is_ancestor(upper, ty) && !new {
                // A scalar's fields are its ancestors.
                continue;
            }
            let aggregate = !self.types.get(ty).scalar && self.types.get(ty).format.is_some();
            if new && !self.types.is_ancestor(upper, ty) || !new && !aggregate {
                return false;
            }
            for field in self.types.fields(ty) {
                if seen.insert(field.ty) {
                    work.push(field.ty);
                }
            }
        }
        true
    }
}

/// A size that covers two: the larger, or as much as can be said where one is
/// unknown, for an unknown size ends at a field's slot and a known one may not.
fn covering(a: Option<u64>, b: Option<u64>) -> u64 {
    match (a, b) {
        (Some(a), Some(b)) => a.max(b),
        (None, None) => 0,
        _ => u64::MAX - 1,
    }
}
