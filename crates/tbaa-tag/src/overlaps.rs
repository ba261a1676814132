//! Finds types that share memory although no type in the module says so.
//!
//! A function may access the same bytes through one pointer as members of two types. If the block
//! of one access dominates the block of the other, the types share memory, as in a union.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::Flow;
use tbaa_types::{Layouts, Type};

use crate::places::{Place, PlacedAccess};
use crate::pointers::Head;
use crate::shapes::Shapes;

/// The limit of pairs of blocks that are compared for one pointer. From the limit on, every pair
/// counts as if one block dominated the other.
const COMPARISONS: usize = 4096;

/// The types through which no access gets a tag, and single accesses that get no tag.
#[derive(Default)]
pub(crate) struct Overlaps {
    pub(crate) types: HashSet<Type>,
    pub(crate) instructions: HashSet<usize>,
}

/// The accesses to one [`Place`] through one pointer.
struct Uses {
    place: Place,
    end: u64,
    blocks: Vec<usize>,
    instructions: Vec<usize>,
}

/// The accesses through one pointer, by the offset of the first byte and a number of the [`Place`].
type Places = BTreeMap<(u64, usize), Uses>;

impl Overlaps {
    /// Finds the overlapping types. `found` lists a module's accesses in order, and `flows` lists
    /// the successors of each block of their functions.
    pub(crate) fn of(
        found: &[(&PlacedAccess, Place)],
        flows: &HashMap<u32, Vec<Vec<usize>>>,
        shapes: &Shapes<'_>,
        layouts: &mut Layouts<'_>,
    ) -> Self {
        let mut overlaps = Overlaps::default();
        for accesses in found.chunk_by(|a, b| a.0.function == b.0.function) {
            let function = accesses[0].0.function;
            let blocks = flows[&function].iter().map(|flow| &flow[..]);
            let flow = LazyCell::new(|| Flow::without_loops(blocks));
            let mut numbers: HashMap<Place, usize> = HashMap::default();
            let mut heads: HashMap<Head, Places> = HashMap::default();
            for &(access, place) in accesses {
                // The type of a stack slot or a global variable is known.
                if matches!(access.head, Head::Slot(..) | Head::Global(_)) {
                    continue;
                }
                let next = numbers.len();
                let number = *numbers.entry(place).or_insert(next);
                let uses = heads.entry(access.head).or_default();
                let uses = uses.entry((place.offset, number)).or_insert_with(|| {
                    let bytes = layouts.store_size(access.ty).map_or(0, |size| size.min);
                    let end = place.offset.saturating_add(bytes);
                    Uses { place, end, blocks: Vec::new(), instructions: Vec::new() }
                });
                if uses.blocks.last() != Some(&access.block) {
                    uses.blocks.push(access.block);
                }
                uses.instructions.push(access.instruction);
            }
            for places in heads.values() {
                overlaps.of_pointer(places, shapes, &flow);
            }
        }
        overlaps
    }

    fn of_pointer(
        &mut self,
        places: &Places,
        shapes: &Shapes<'_>,
        flow: &LazyCell<Flow, impl FnOnce() -> Flow>,
    ) {
        let mut left = COMPARISONS;
        for (&(begin, number), a) in places {
            let after = (begin, number + 1)..(a.end.max(begin), 0);
            for (_, b) in places.range(after) {
                let ends = |uses: &Uses| (uses.place.base, uses.place.offset);
                let mut is_shown = |x, y| {
                    left = left.saturating_sub(1);
                    left == 0 || flow.dominates(x, y) || flow.dominates(y, x)
                };
                let mut shown =
                    || a.blocks.iter().any(|&x| b.blocks.iter().any(|&y| is_shown(x, y)));
                if shapes.may_alias(ends(a), ends(b)) || !shown() {
                    continue;
                }
                for uses in [a, b] {
                    match uses.place.root {
                        Some(root) => _ = self.types.insert(root),
                        None => self.instructions.extend(&uses.instructions),
                    }
                }
            }
        }
    }
}
