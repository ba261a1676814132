//! Paths as chains of steps that share their beginnings.

use crate::oracle::types::TypeIndex;

/// The last step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link(u32);

impl Link {
    /// The path without a step.
    pub(super) const START: Link = Link(u32::MAX);
}

/// Every step taken in a query, each with its predecessor; empty if paths are not requested.
#[derive(Debug)]
pub(super) struct PathArena {
    steps: Vec<(Link, TypeIndex, u32)>,
    /// True if the steps are requested.
    pub(super) asked: bool,
}

impl PathArena {
    /// Returns an arena that stores the steps if they are requested.
    pub(super) fn new(asked: bool) -> PathArena {
        PathArena { steps: Vec::new(), asked }
    }

    /// Goes on from `link` through field number `field` of `ty`.
    pub(super) fn step(&mut self, link: Link, ty: TypeIndex, field: usize) -> Link {
        if !self.asked {
            return Link::START;
        }
        self.steps.push((link, ty, field as u32));
        Link(self.steps.len() as u32 - 1)
    }

    /// Returns the steps up to `link`: a type and the number of its field.
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
