//! Adds tags to a module that has none, by following its `getelementptr`s.
//!
//! [`tag`] works on LLVM assembly before LLVM's passes, and does not need LLVM. By default, a load
//! or store can get a tag if its pointer is computed by `getelementptr`s, each on the type that the
//! previous one reached, and leads to a struct member of the access's own type. Untagged accesses
//! may alias everything.
//!
//! A type is identified by the offsets and types of its members, and not by a name unless
//! [`Options::nominal`] is used. The base type of a tag has the members up to the accessed one. So
//! structs with equal first members share the tags of these members.
//!
//! The program must fulfil [`PROMISE`].
//!
//! [`tag_declared`] instead gives accesses the tags of types that the caller declares.

#![forbid(unsafe_code)]

mod declared;
mod error;
mod options;
mod overlaps;
mod places;
mod pointers;
mod shapes;
mod tags;

pub use error::{TagError, Untagged};
pub use options::Options;
pub use tags::{TaggedAccess, Tags, UntaggedAccess, tag, tag_declared};

/// The promise that a program must keep so that its tags are correct.
pub const PROMISE: &str = "\
If two accesses to the same bytes, while one value lives there, reach them through getelementptrs, \
then both use the same scalar type, and their structs have the same LLVM types up to there, in the \
same order and nesting, or one struct is declared inside the other.";

/// The promise of [`Options::elements`], in addition to [`PROMISE`].
pub const ELEMENTS_PROMISE: &str = "\
Memory that is accessed as one scalar type is accessed as no other while one value lives there: \
nothing is zeroed, copied or hashed by words of another type.";

/// The promise that a program must keep so that tags of declared types are correct.
pub const DECLARED_PROMISE: &str = "\
If two accesses to the same bytes, while one value lives there, go through declared structs or \
unions, then both go to the same declared member, or to members of one declared union.";
