//! Tags for a module that has none, from the places that its `getelementptr`s name.
//!
//! [`tag`] works on text, without LLVM, and before LLVM's passes. A load or store gets a tag
//! if its pointer is made by `getelementptr`s that lead, each with the type that the one
//! before reached, to a member of a struct of the access's own type. All other accesses get
//! none, and may alias everything.
//!
//! A type is what it has: the offsets and types of its members, and no name. The base type
//! of a tag ends with the member that is accessed. So structs that begin alike, literal
//! structs, and structs that the linker renamed have the tags that their common members
//! have in common.
//!
//! What the program must keep to is [`PROMISE`].
//!
//! [`tag_declared`] gives the accesses the tags of declared types instead.

#![forbid(unsafe_code)]

mod declared;
mod error;
mod options;
mod overlaps;
mod places;
mod pointers;
mod shapes;
mod tags;
mod untagged;

pub use error::TagError;
pub use options::Options;
pub use tags::{TaggedAccess, Tags, UntaggedAccess, tag, tag_declared};
pub use untagged::Untagged;

/// The promise that a program must keep for its tags to be right.
pub const PROMISE: &str = "\
If two accesses to the same bytes, while one value lives there, reach them through getelementptrs, \
then both use the same scalar type, and their structs have the same LLVM types up to there, in the \
same order and nesting, or one struct is declared inside the other.";

/// The promise of [`Options::elements`] beside [`PROMISE`].
pub const ELEMENTS_PROMISE: &str = "\
Memory that is accessed as one scalar type is accessed as no other while one value lives there: \
nothing is zeroed, copied or hashed by words of another type.";

/// The promise that a program must keep for tags of declared types to be right.
pub const DECLARED_PROMISE: &str = "\
If two accesses to the same bytes, while one value lives there, go through declared structs or \
unions, then both go to the same declared member, or to members of one declared union.";
