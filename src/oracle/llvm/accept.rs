//! Decides whether LLVM's verifier accepts a tag, without following every path to its end.
//!
//! The verifier walks from a tag's base type to the access type, or in the old format to the root.
//! A *cursor* is a type and offset on such a walk, and is *known* if the index has it. All walks
//! that reach a cursor continue in the same way, so the conditions of the verifier from there on
//! ([`Rest`]) are computed only once per cursor.
//!
//! The verifier also rejects a walk that visits a type twice. If each type on a walk was added
//! before the preceding type, the walk cannot do so. The conditions are used only for such walks.

use crate::graph::{Format, Graph, Shape, TagId};
use crate::oracle::index::Index;
use crate::wellformed::{Verdicts, Width, check_operands, comes_to, is_scalar};

/// The largest number of types on a path before the first known cursor. Longer paths are left to
/// the verifier, which, unlike the index, caches results for rejected tags too.
const NEAR: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Acceptance {
    verdicts: Verdicts,
    /// For each cursor, the conditions of the verifier from there on.
    rests: Vec<Rest>,
}

/// The conditions of the verifier, from a cursor on, for a tag whose walk reaches the cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// No condition. (The offset must be 0 at scalars, but every known cursor satisfies that.)
    Nothing,
    /// The tag's offset must be an integer with this many bits.
    Bits(u8),
    /// Not known: the verifier must follow the walk.
    Unknown,
}

impl Acceptance {
    pub(super) fn accepts(&mut self, graph: &Graph, index: &Index, tag: TagId) -> bool {
        self.joins(graph, index, tag).unwrap_or_else(|| self.verdicts.check(graph, tag).is_ok())
    }

    /// Follows a tag's path to the first known cursor. Returns `None` if that does not decide.
    fn joins(&mut self, graph: &Graph, index: &Index, tag: TagId) -> Option<bool> {
        self.extend(graph, index);
        let operands = check_operands(graph, graph.tag_node(tag));
        let Ok((base, access, mut offset, format)) = operands else { return Some(false) };
        let mut rules = self.verdicts.rules(graph, format);
        if offset.bits < 64 && offset.value >> offset.bits != 0 {
            return None;
        }
        let (mut next, mut seen_access) = (base, false);
        for _ in 0..NEAR {
            let shape = Shape::of(graph, next);
            if shape.is_root() {
                return Some(seen_access);
            }
            if shape.format == format
                && let Some(cursor) = index.walks.find(next.index, offset.value)
            {
                let (walks, end) = (&index.walks, index.walks.find(access.index, 0));
                return match (self.rests[cursor as usize], format) {
                    (Rest::Unknown, _) => None,
                    (Rest::Bits(bits), _) if u32::from(bits) != offset.bits => Some(false),
                    _ if seen_access => Some(true),
                    // The walk must lead from the cursor to the start of the access type.
                    (_, Format::Old) => {
                        Some(end.is_some_and(|end| walks.forest.is_ancestor(end, cursor)))
                    }
                    (_, Format::New) => comes_to(graph, walks, cursor, end?).then_some(true),
                };
            }
            if rules.check_place(next, next == access, offset).is_err() {
                return Some(false);
            }
            seen_access |= next == access;
            if format == Format::New && seen_access {
                return Some(true);
            }
            let before = next;
            next = rules.step(before, &mut offset).ok()?;
            if next.index >= before.index {
                return None;
            }
        }
        None
    }

    /// Computes the conditions of new cursors. A cursor is numbered after the cursors that follow
    /// on its walk, so the conditions of those are known.
    fn extend(&mut self, graph: &Graph, index: &Index) {
        for cursor in self.rests.len() as u32..index.walks.forest.len() as u32 {
            let rest = self.rest(graph, index, cursor);
            self.rests.push(rest);
        }
    }

    fn rest(&mut self, graph: &Graph, index: &Index, cursor: u32) -> Rest {
        let ty = graph.node_at(index.walks.ty(cursor));
        let shape = Shape::of(graph, ty);
        if shape.is_root() {
            return Rest::Nothing;
        }
        let own = match self.verdicts.rules(graph, shape.format).check_type(ty) {
            Err(_) => return Rest::Unknown,
            Ok(Width::Bits(bits)) => u8::try_from(bits).map_or(Rest::Unknown, Rest::Bits),
            Ok(Width::Zero | Width::Any) => Rest::Nothing,
        };
        let next = index.walks.forest.parent(cursor).filter(|_| !is_scalar(graph, ty));
        let Some(next) = next else { return own };
        let to = graph.node_at(index.walks.ty(next));
        let shape_of_next = Shape::of(graph, to);
        if to.index >= ty.index || !shape_of_next.is_root() && shape_of_next.format != shape.format
        {
            return Rest::Unknown;
        }
        match (own, self.rests[next as usize]) {
            (own, Rest::Nothing) => own,
            (Rest::Nothing, rest) => rest,
            (own, rest) if own == rest => own,
            _ => Rest::Unknown,
        }
    }
}
