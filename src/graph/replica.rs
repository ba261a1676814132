//! Copies of a graph that are updated as it grows, and accept its ids as their own.

use super::{Graph, IS_COPY, IS_TYPE, Stamp};

impl Graph {
    /// Returns a copy that accepts this graph's ids as its own. Only [`Graph::follow`] may add
    /// nodes to it.
    pub(crate) fn replica(&self) -> Graph {
        Graph { stamp: Stamp(self.stamp.0), ..self.clone() }
    }

    /// Adds everything that `original` has and this copy lacks. The copy must be a replica, or a
    /// clone to which only this function adds. Takes time in proportion to the additions.
    #[doc(hidden)]
    pub fn follow(&mut self, original: &Graph) {
        let from = self.records.len();
        self.strings.follow(&original.strings, &self.hasher);
        self.ints.extend(original.ints.iter().skip(self.ints.len()));
        self.raws.extend(original.raws.iter().skip(self.raws.len()).cloned());
        self.operands.extend_from_slice(&original.operands[self.operands.len()..]);
        self.records.extend_from_slice(&original.records[from..]);
        let formats = original.root_formats.iter().skip(self.root_formats.len());
        self.root_formats.extend(formats);
        for node in from as u32..self.records.len() as u32 {
            // The hasher is the same as that of the original.
            let hash = self.hash_of(node);
            if original.unique.find(hash, |&other| other == node).is_some() {
                self.make_unique(node, hash);
            }
        }
        self.follow_marks(original);
    }

    /// Marks nodes, old and new, as tags, types and `tbaa.struct` nodes, as the original does.
    fn follow_marks(&mut self, original: &Graph) {
        for index in self.tags.len()..original.tags.len() {
            self.records[original.tags[index] as usize].tag = index as u32;
        }
        self.tags.extend_from_slice(&original.tags[self.tags.len()..]);
        for (known, all, flag) in [
            (&mut self.types, &original.types, IS_TYPE),
            (&mut self.copies, &original.copies, IS_COPY),
        ] {
            for &node in &all[known.len()..] {
                self.records[node as usize].flags |= flag;
            }
            known.extend_from_slice(&all[known.len()..]);
        }
    }

    /// Returns whether a replica has everything that its original has.
    pub(crate) fn is_level_with(&self, original: &Graph) -> bool {
        let extent =
            |of: &Graph| (of.records.len(), of.tags.len(), of.types.len(), of.copies.len());
        extent(self) == extent(original)
    }
}
