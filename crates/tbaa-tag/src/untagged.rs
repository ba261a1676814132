//! The reason why an access has no tag.

use std::fmt;

/// The reason why an access has no tag of ours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Untagged {
    /// It has a tag already, which stays.
    Tagged,
    /// It directly accesses a stack slot, which LLVM promotes to registers.
    Slot,
    /// Its pointer does not address a member of a struct.
    NoMember,
    /// A `getelementptr` counts bytes.
    Bytes,
    /// An index may lead out of its member.
    Index,
    /// A type differs from the one at its place: a cast, or a union.
    Type,
    /// An element of an array of bytes, which may contain anything.
    ByteArray,
    /// A pointer into an object from a `phi`, `select` or `freeze`.
    Joined,
    /// An atomic access.
    Atomic,
    /// A vector or an aggregate is accessed.
    NotScalar,
    /// [`Options::opaque`](crate::Options::opaque) names a type on the path, or
    /// [`Options::union`](crate::Options::union) does and
    /// [`Options::elements`](crate::Options::elements) is set.
    Opaque,
    /// One function uses one pointer as two types with different members.
    Overlap,
    /// A pointer or type that cannot be read, or has an unknown size.
    Unread,
}

impl fmt::Display for Untagged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Untagged::Tagged => "has a tag already",
            Untagged::Slot => "a stack slot itself: LLVM keeps it in registers",
            Untagged::NoMember => "no member of a struct",
            Untagged::Bytes => "behind a getelementptr that counts bytes",
            Untagged::Index => "an index may lead out of the member",
            Untagged::Type => "another type than the one at its place: a cast or a union",
            Untagged::ByteArray => "an element of an array of bytes",
            Untagged::Joined => "a pointer into an object that phi, select or freeze made",
            Untagged::Atomic => "an atomic access",
            Untagged::NotScalar => "a vector or an aggregate",
            Untagged::Opaque => {
                "through a type that was declared opaque or, with elements, a union"
            }
            Untagged::Overlap => "one pointer is used as two types with different members",
            Untagged::Unread => "a pointer or type that cannot be read or has no size",
        })
    }
}
