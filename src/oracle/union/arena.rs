//! Stores paths as linked lists of steps. Paths with the same beginning share its steps.

use crate::oracle::types::TypeIndex;

/// A path, represented by its last step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link(u32);

impl Link {
    /// The path without steps.
    pub(super) const START: Link = Link(u32::MAX);
}

/// The steps of a query's paths, each with the step before it. Empty if paths are not requested.
#[derive(Debug)]
pub(super) struct PathArena {
    steps: Vec<(Link, TypeIndex, u32)>,
    pub(super) asked: bool,
}

impl PathArena {
    pub(super) fn new(asked: bool) -> PathArena {
        PathArena { steps: Vec::new(), asked }
    }

    /// Extends the path `link` by the field with index `field` of `ty`, if paths are requested.
    pub(super) fn step(&mut self, link: Link, ty: TypeIndex, field: usize) -> Link {
        if !self.asked {
            return Link::START;
        }
        self.steps.push((link, ty, field as u32));
        Link(self.steps.len() as u32 - 1)
    }

    /// Returns the steps of a path. Each is a type and the index of one of its fields.
    pub(super) fn path(&self, link: Link) -> Vec<(TypeIndex, usize)> {
        let mut steps = Vec::new();
        let mut next = link;
        while let Some(&(before, ty, field)) = self.steps.get(next.0 as usize) {
            steps.push((ty, field as usize));
            next = before;
        }
        steps.reverse();
        steps
    }
}
