//! Ranks tags. A tag has a low rank if clang's tag for the same access may alias many others.

use tbaa::parts::table::HashMap;
use tbaa::{Graph, TagId, TypeId, TypeKind};

/// The largest number of types on one path that are examined.
const MAX_TYPES: u32 = 4096;

/// A tag's rank is the number of types on its path: from the base to the access type, and on to the
/// root. The rank is 0 if the path leads through a type with overlapping fields, because clang tags
/// such an access as `char`.
#[derive(Default)]
pub(super) struct Ranks {
    overlaps: HashMap<TypeId, bool>,
}

impl Ranks {
    pub(super) fn of(&mut self, graph: &Graph, tag: TagId) -> u32 {
        let Ok(tag) = graph.tag(tag) else { return 0 };
        let (mut ty, mut offset, mut rank) = (tag.base, tag.offset, 0);
        while rank < MAX_TYPES && ty != tag.access && graph.ty(ty).kind() == TypeKind::Aggregate {
            if self.overlaps(graph, ty) {
                return 0;
            }
            let Some(field) = graph.ty(ty).last_field(offset) else { return 0 };
            offset -= field.offset;
            ty = field.ty;
            rank += 1;
        }
        let mut next = Some(ty);
        while let Some(ty) = next.filter(|_| rank < MAX_TYPES) {
            next = graph.ty(ty).parent();
            rank += 1;
        }
        rank
    }

    fn overlaps(&mut self, graph: &Graph, ty: TypeId) -> bool {
        *self.overlaps.entry(ty).or_insert_with(|| {
            let mut end = 0;
            let mut before = None;
            graph.ty(ty).fields().any(|field| {
                let overlap = field.offset < end || before == Some(field.offset);
                end = end.max(field.offset.saturating_add(field.extent.unwrap_or(0)));
                before = Some(field.offset);
                overlap
            })
        })
    }
}
