//! Equality of types, in one context or in several.
//!
//! Within a context, ids decide. But `%struct.Point` and `%struct.Point.0` from two modules have
//! two ids, and types of two contexts cannot be compared by id at all. Two relations compare them.
//! The names of structs with a body do not count in either; an opaque struct is equal to those of
//! its canonical name.
//!
//! - [`Equality::Structural`]: the same graph. The parts of the types must match one to one: if one
//!   type uses one struct twice, so must the other.
//! - [`Equality::Unfolding`]: the same tree, when elements and pointers are followed without
//!   noticing whether a struct was visited before.
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

use automaton::Automaton;

use super::{Context, Type};
use crate::table::HashMap;

/// A relation between types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Equality {
    /// Equal encodings: the relation of the article "Type Equality in LLVM".
    /// The graphs that the two types span are the same up to names.
    Structural,
    /// Bisimilarity: the possibly infinite trees from unfolding the two types are the same. Coarser
    /// than [`Equality::Structural`].
    Unfolding,
}

/// All types of some contexts, in classes of equal ones.
///
/// Finding the classes takes time in the size of the contexts, times a logarithm, for real types.
/// [`Equality::Structural`] can take more if many large types are unfolding-equal and differ only
/// remotely in how often they use one struct. Then the work is limited, and some equal types may be
/// in two classes ([`TypeClasses::is_exact`]). Types in one class are always equal.
#[derive(Clone, Debug)]
pub struct TypeClasses {
    /// For each context, the index of its first type in `classes`.
    bases: HashMap<u32, usize>,
    classes: Vec<u32>,
    count: usize,
    exact: bool,
}

impl TypeClasses {
    /// Finds the classes of all types of `contexts`.
    pub fn new(contexts: &[&Context], equality: Equality) -> Self {
        let automaton = Automaton::new(contexts, None);
        let (classes, exact) = match equality {
            Equality::Unfolding => (refine::refine(&automaton, automaton.symbols.clone()), true),
            Equality::Structural => pairing::structural(&automaton),
        };
        Self::numbered(automaton.bases, classes, exact)
    }

    /// Finds the classes of types that unfold alike, names included. An opaque struct is
    /// in the class of its completion.
    pub(super) fn by_name(contexts: &[&Context], completions: &Completions<'_>) -> Self {
        let automaton = Automaton::new(contexts, Some(completions));
        let classes = refine::refine(&automaton, automaton.symbols.clone());
        Self::numbered(automaton.bases, classes, true)
    }

    /// Numbers classes in the order of the first types in them.
    fn numbered(bases: HashMap<u32, usize>, mut classes: Vec<u32>, exact: bool) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::default();
        for class in &mut classes {
            let next = numbers.len() as u32;
            *class = *numbers.entry(*class).or_insert(next);
        }
        TypeClasses { bases, classes, count: numbers.len(), exact }
    }

    /// Returns the number of classes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns whether all equal types are in one class; always so for [`Equality::Unfolding`].
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Returns the number of a type's class, less than [`TypeClasses::count`].
    /// Classes are numbered in the order of the first types in them.
    /// Panics if `ty` was issued by a context that is not compared, or after the comparison.
    pub fn class_of(&self, ty: Type) -> usize {
        let base = self.bases.get(&ty.stamp);
        let index = base.map(|base| base + ty.index());
        let class = index.and_then(|index| self.classes.get(index));
        *class.unwrap_or_else(|| panic!("{ty:?} is of a context that was not compared")) as usize
    }

    /// Returns whether two types are equal.
    ///
    /// # Panics
    ///
    /// As [`TypeClasses::class_of`].
    pub fn same(&self, a: Type, b: Type) -> bool {
        self.class_of(a) == self.class_of(b)
    }
}
