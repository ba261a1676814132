//! The lints, with their codes and levels.

use std::fmt;

use tbaa::wellformed::Level;

/// Something that LLVM accepts and is still wrong or suspicious, in order of number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Lint {
    /// A type node is attached where a tag belongs.
    TypeAsTag,
    /// Old-format and size-aware types stand under one root.
    MixedFormats,
    /// One type is spelled in two ways.
    TwoSpellings,
    /// Two types of one name and root differ in their bodies.
    ConflictingTypes,
    /// Two distinct types are equal, operand by operand.
    DuplicateTypes,
    /// Two fields overlap, both are accessed, and LLVM says that they do not.
    OverlappingFields,
    /// Field offsets contradict the module's struct type and data layout.
    LayoutMismatch,
    /// The width of a load or store is not that of its tag's type.
    WidthMismatch,
    /// One pointer is accessed under tags that exclude each other.
    PointerUnderTwoTags,
    /// What is stored under one tag is read under another that excludes it.
    ReadUnderOtherTag,
    /// Rule `llvm` says `NoAlias` where rule `union` says `MayAlias`.
    UnionMiscompiled,
    /// Memory that a tag calls immutable is stored to.
    ImmutableStored,
    /// A function has loads or stores without a tag beside tagged ones.
    Untagged,
    /// No instruction has this tag.
    UnusedTag,
    /// No tag reaches this type.
    UnusedType,
    /// A name differs from a known one by what looks like a slip.
    NameTypo,
    /// A pointer that is chosen between memory of two types is loaded through with a tag.
    ChosenPointer,
}

impl Lint {
    /// Every lint, in order of number.
    pub const ALL: &[Lint] = &[
        Lint::TypeAsTag,
        Lint::MixedFormats,
        Lint::TwoSpellings,
        Lint::ConflictingTypes,
        Lint::DuplicateTypes,
        Lint::OverlappingFields,
        Lint::LayoutMismatch,
        Lint::WidthMismatch,
        Lint::PointerUnderTwoTags,
        Lint::ReadUnderOtherTag,
        Lint::UnionMiscompiled,
        Lint::ImmutableStored,
        Lint::Untagged,
        Lint::UnusedTag,
        Lint::UnusedType,
        Lint::NameTypo,
        Lint::ChosenPointer,
    ];

    /// Returns the number of the lint's code: 101 for `TBAA101`.
    #[must_use]
    pub fn number(self) -> u16 {
        101 + self as u16
    }

    /// Returns how bad a finding is; `None` if the lint is off unless asked
    /// for.
    #[must_use]
    pub fn level(self) -> Option<Level> {
        match self {
            Lint::TypeAsTag
            | Lint::MixedFormats
            | Lint::ReadUnderOtherTag
            | Lint::ImmutableStored => Some(Level::Error),
            // A missing tag costs speed, and never correctness.
            Lint::Untagged => None,
            _ => Some(Level::Warning),
        }
    }

    /// Returns what is suspicious, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Lint::TypeAsTag => "a type node in a tag's place",
            Lint::MixedFormats => "old and new format under one root",
            Lint::TwoSpellings => "one type spelled in two ways",
            Lint::ConflictingTypes => "types of one name with different bodies",
            Lint::DuplicateTypes => "distinct types that are equal",
            Lint::OverlappingFields => "accessed fields that overlap",
            Lint::LayoutMismatch => "field offsets that contradict the module's struct type",
            Lint::WidthMismatch => "an access not as wide as its tag's type",
            Lint::PointerUnderTwoTags => "one pointer accessed under tags that exclude each other",
            Lint::ReadUnderOtherTag => "a value stored under one tag and read under another",
            Lint::UnionMiscompiled => "union members that LLVM takes for apart",
            Lint::ImmutableStored => "a store to memory that a tag calls immutable",
            Lint::Untagged => "accesses without a tag beside tagged ones",
            Lint::UnusedTag => "a tag that no instruction has",
            Lint::UnusedType => "a type that no tag reaches",
            Lint::NameTypo => "a name that looks misspelled",
            Lint::ChosenPointer => "a tagged load through a pointer chosen among types",
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
