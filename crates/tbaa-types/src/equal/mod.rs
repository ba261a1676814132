//! Equality of types, in one context or in several.
//!
//! Within a context, types are usually compared by id. But `%struct.Point` and `%struct.Point.0`
//! from two modules have two ids, and ids of two contexts cannot be compared. Two relations compare
//! such types. Neither considers the names of structs with a body. Opaque structs are equal if they
//! have the same canonical name.
//!
//! - [`Equality::Structural`]: the same graph. The parts of the types must match one to one: if one
//!   type uses one struct twice, so must the other.
//! - [`Equality::Unfolding`]: the same tree, if elements and pointers are followed without noticing
//!   that a struct was visited before.
//!
//! ```
//! use tbaa_types::{Context, Equality, Packing, TypeClasses};
//!
//! let mut context = Context::new();
//! let int = context.int(32)?;
//! let list = context.named_struct(b"list")?;
//! let node = context.named_struct(b"node")?;
//! let root = context.named_struct(b"root")?;
//! // %list = type { %list*, i32 }, %node = type { %node*, i32 }, %root = type { %node*, i32 }
//! for (ty, to) in [(list, list), (node, node), (root, node)] {
//!     let pointer = context.typed_pointer(to, 0)?;
//!     context.set_body(ty, &[pointer, int], Packing::Padded)?;
//! }
//! let structural = TypeClasses::new(&[&context], Equality::Structural);
//! assert!(structural.same(list, node) && !structural.same(root, node));
//! let unfolding = TypeClasses::new(&[&context], Equality::Unfolding);
//! assert!(unfolding.same(list, node) && unfolding.same(root, node));
//! # Ok::<(), tbaa_types::TypeError>(())
//! ```

mod automaton;
mod encoding;
mod pairing;
mod refine;

pub(crate) use automaton::Completions;
pub use encoding::{Encoding, MAX_ENCODING, canonical_name};

use std::ops::Range;

use automaton::Automaton;

use super::{Context, Type};
use crate::table::HashMap;

/// A relation between types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Equality {
    /// Equal encodings: the relation of the article "Type Equality in LLVM". The graphs reachable
    /// from the two types are equal, except for the names of structs with a body.
    Structural,
    /// Bisimilarity: the (possibly infinite) trees from unfolding the two types are equal. More
    /// types are equal than under [`Equality::Structural`].
    Unfolding,
}

/// All types of some contexts, sorted into classes of equal types.
///
/// In practice, finding the classes takes time O(n log n) in the size of the contexts.
/// [`Equality::Structural`] can take longer if many large types have equal unfoldings, but differ
/// deep inside, in how often they use one struct. The work is limited, so some equal types may then
/// be in two classes (see [`TypeClasses::is_exact`]). Types in one class are always equal.
#[derive(Clone, Debug)]
pub struct TypeClasses {
    /// For each context, the range of its types in `classes`.
    ranges: HashMap<u32, Range<usize>>,
    classes: Vec<u32>,
    count: usize,
    exact: bool,
}

impl TypeClasses {
    /// Finds the classes of all types in `contexts`.
    pub fn new(contexts: &[&Context], equality: Equality) -> Self {
        let automaton = Automaton::new(contexts, None);
        let (classes, exact) = match equality {
            Equality::Unfolding => (refine::refine(&automaton, automaton.symbols.clone()), true),
            Equality::Structural => pairing::structural(&automaton),
        };
        Self::numbered(automaton.bases, classes, exact)
    }

    /// Finds classes of types with equal unfoldings and equal canonical struct names. An opaque
    /// struct is in the class of the struct that completes it.
    pub(super) fn by_name(contexts: &[&Context], completions: &Completions<'_>) -> Self {
        let automaton = Automaton::new(contexts, Some(completions));
        let classes = refine::refine(&automaton, automaton.symbols.clone());
        Self::numbered(automaton.bases, classes, true)
    }

    /// Renumbers classes in the order of their first types.
    fn numbered(bases: HashMap<u32, usize>, mut classes: Vec<u32>, exact: bool) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::default();
        for class in &mut classes {
            let next = numbers.len() as u32;
            *class = *numbers.entry(*class).or_insert(next);
        }
        let mut starts: Vec<usize> = bases.values().copied().collect();
        starts.sort_unstable();
        let end = |base| starts.get(starts.partition_point(|&start| start <= base)).copied();
        let range = |(&stamp, &base)| (stamp, base..end(base).unwrap_or(classes.len()));
        let ranges = bases.iter().map(range).collect();
        TypeClasses { ranges, classes, count: numbers.len(), exact }
    }

    /// Returns the number of classes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns true if equal types are surely in the same class, as for [`Equality::Unfolding`].
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns the number of a type's class, which is less than [`TypeClasses::count`]. Classes are
    /// numbered in the order of their first types.
    /// Panics if `ty` is newer than the comparison, or from a context that was not compared.
    pub fn class_of(&self, ty: Type) -> usize {
        let range = self.ranges.get(&ty.stamp);
        let class = range.and_then(|range| self.classes[range.clone()].get(ty.index()));
        *class.unwrap_or_else(|| panic!("{ty:?} was not compared")) as usize
    }

    /// Returns whether two types are equal.
    ///
    /// # Panics
    ///
    /// Panics as [`TypeClasses::class_of`] does.
    pub fn same(&self, a: Type, b: Type) -> bool {
        self.class_of(a) == self.class_of(b)
    }
}
