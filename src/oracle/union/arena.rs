//! Paths as chains of steps that share their beginnings.

use super::types::TypeIndex;

/// The last step of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Link(u32);

impl Link {
    /// The path without a step.
    pub(crate) const START: Link = Link(u32::MAX);
}

/// Every step taken in a query, each with the one before it.
#[derive(Default, Debug)]
pub(crate) struct PathArena(Vec<(Link, TypeIndex, u32)>);

impl PathArena {
    /// Goes on from `link` through field number `field` of `ty`.
    pub(crate) fn step(&mut self, link: Link, ty: TypeIndex, field: usize) -> Link {
        self.0.push((link, ty, field as u32));
        Link(self.0.len() as u32 - 1)
    }

    /// Returns the steps up to `link`: a type and the number of its field.
    pub(crate) fn path(&self, link: Link) -> Vec<(TypeIndex, usize)> {
        let mut steps = Vec::new();
        let mut next = link;
        while let Some(&(before, ty, field)) = self.0.get(next.0 as usize) {
            steps.push((ty, field as usize));
            next = before;
        }
        steps.reverse();
        steps
    }
}
