//! The lints, with their codes and levels.

use std::fmt;

use tbaa::wellformed::Level;

/// Defines the lints: each with its documentation, its level, and its title.
macro_rules! lints {
    ($($(#[$doc:meta])* $name:ident: $level:expr, $title:literal;)*) => {
        /// Something that LLVM accepts and that is wrong or suspicious, in order of number.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Lint {
            $($(#[$doc])* $name,)*
        }

        impl Lint {
            /// Every lint, in order of number.
            pub const ALL: &[Lint] = &[$(Lint::$name,)*];

            /// Returns how bad a finding is; `None` if the lint is off by default.
            #[must_use]
            pub fn level(self) -> Option<Level> {
                match self {
                    $(Lint::$name => $level,)*
                }
            }

            /// Returns a short title of the problem.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self {
                    $(Lint::$name => $title,)*
                }
            }
        }
    };
}

const ERROR: Option<Level> = Some(Level::Error);
const WARNING: Option<Level> = Some(Level::Warning);
/// A finding costs speed, and never correctness.
const OFF: Option<Level> = None;

lints! {
    /// A type node is attached as a tag.
    TypeAsTag: ERROR, "a type node attached as a tag";
    /// Old-format and size-aware types have one root.
    MixedFormats: ERROR, "old and new format under one root";
    /// One type is spelled in two ways.
    TwoSpellings: WARNING, "one type spelled in two ways";
    /// Two types of one name and root differ in their bodies.
    ConflictingTypes: WARNING, "types of one name with different bodies";
    /// Two distinct types are equal, operand by operand.
    DuplicateTypes: WARNING, "distinct types that are equal";
    /// Two fields overlap and are both accessed, but LLVM answers NoAlias.
    OverlappingFields: WARNING, "accessed fields that overlap";
    /// Field offsets contradict the module's struct type and data layout.
    LayoutMismatch: WARNING, "field offsets that contradict the module's struct type";
    /// A load or store does not have the width of its tag's type.
    WidthMismatch: WARNING, "an access not as wide as its tag's type";
    /// One pointer is accessed under tags that exclude each other.
    PointerUnderTwoTags: WARNING, "one pointer accessed under tags that exclude each other";
    /// A value stored under one tag is read under another that excludes it.
    ReadUnderOtherTag: ERROR, "a value stored under one tag and read under another";
    /// Rule `llvm` answers `NoAlias` although rule `union` answers `MayAlias`.
    UnionMiscompiled: WARNING, "union members that LLVM takes for apart";
    /// A store to memory that a tag calls immutable.
    ImmutableStored: ERROR, "a store to memory that a tag calls immutable";
    /// A function has both tagged and untagged loads or stores.
    Untagged: OFF, "accesses without a tag beside tagged ones";
    /// No instruction has this tag.
    UnusedTag: WARNING, "a tag that no instruction has";
    /// No tag reaches this type.
    UnusedType: WARNING, "a type that no tag reaches";
    /// A name differs from a known one by what looks like a slip.
    NameTypo: WARNING, "a name that looks misspelled";
    /// A pointer that is chosen between memory of two types is loaded through with a tag.
    ChosenPointer: WARNING, "a tagged load through a pointer chosen among types";
    /// One function has tags under two roots.
    TwoRoots: WARNING, "tags of one function under two roots";
    /// A scalar that is named after one kind of type is on accesses of another kind.
    OtherKind: WARNING, "one scalar type on accesses of different LLVM types";
    /// Members of a union have tags that exclude each other.
    UnionMembers: WARNING, "members of a union under tags that exclude each other";
    /// A whole struct and its members have tags that exclude each other.
    WholeStruct: WARNING, "a whole struct and its members under tags that exclude each other";
    /// A tagged call has an argument that is memory: `byval`, `sret`.
    ArgumentMemory: WARNING, "a tagged call with an argument that is memory";
}

impl Lint {
    /// Returns the number of the lint's code: 101 for `TBAA101`.
    #[must_use]
    pub fn number(self) -> u16 {
        101 + self as u16
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
