//! Marks the types and fields that a tag or a pair of tags refers to, for drawing.

use std::collections::HashMap;

use tbaa::explain::{Explanation, Side};
use tbaa::{AliasRule, Graph, TagId, TypeId};

use crate::walk::{Next, WalkStep, all_paths, follow, walk};

/// A set of bits: `A` for the first access, `B` for the second.
pub(super) type Bits = u8;
pub(super) const A: Bits = 1;
pub(super) const B: Bits = 2;

#[derive(Default)]
pub(super) struct Marks {
    types: HashMap<TypeId, Bits>,
    fields: HashMap<(TypeId, usize), Bits>,
    parents: HashMap<TypeId, Bits>,
}

impl Marks {
    /// Marks the types and fields of a tag: under rule `llvm` those that LLVM visits, otherwise
    /// those on the paths to the access type, and the ancestors of the access type.
    pub(super) fn of_tag(graph: &Graph, rule: AliasRule, tag: TagId) -> Marks {
        let mut marks = Marks::default();
        marks.add_tag(graph, rule, tag, A);
        marks
    }

    /// Marks the paths of an explanation; without paths, marks both tags as `of_tag` does.
    pub(super) fn of_pair(graph: &Graph, why: &Explanation, a: TagId, b: TagId) -> Marks {
        let mut marks = Marks::default();
        let outer = |side| if side == Side::A { a } else { b };
        if let Some(found) = &why.comparison
            && let Ok(base) = graph.tag(outer(found.outer))
        {
            marks.add(&follow(graph, base.base, &found.a.steps), A);
            marks.add(&follow(graph, base.base, &found.b.steps), B);
        } else {
            marks.add_tag(graph, why.rule, a, A);
            marks.add_tag(graph, why.rule, b, B);
        }
        marks
    }

    fn add_tag(&mut self, graph: &Graph, rule: AliasRule, tag: TagId, bits: Bits) {
        let Ok(tag) = graph.tag(tag) else { return };
        if rule == AliasRule::Llvm {
            self.add(&walk(graph, tag.base, tag.offset), bits);
        } else {
            self.add(&all_paths(graph, &tag), bits);
            // The ancestors of the access type cover the access too.
            self.add(&walk(graph, tag.access, 0), bits);
        }
    }

    fn add(&mut self, places: &[WalkStep], bits: Bits) {
        for place in places {
            *self.types.entry(place.ty).or_default() |= bits;
            match place.next {
                Next::Field(at) => *self.fields.entry((place.ty, at)).or_default() |= bits,
                Next::Parent => *self.parents.entry(place.ty).or_default() |= bits,
                Next::End => {}
            }
        }
    }

    pub(super) fn ty(&self, ty: TypeId) -> Bits {
        self.types.get(&ty).copied().unwrap_or(0)
    }

    pub(super) fn field(&self, ty: TypeId, field: usize) -> Bits {
        self.fields.get(&(ty, field)).copied().unwrap_or(0)
    }

    pub(super) fn parent(&self, ty: TypeId) -> Bits {
        self.parents.get(&ty).copied().unwrap_or(0)
    }
}
