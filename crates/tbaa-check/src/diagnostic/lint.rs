//! The lints, with their codes and levels.

use std::fmt;

use tbaa::wellformed::Level;

macro_rules! lints {
    ($($name:ident: $level:expr, $title:literal;)*) => {
        /// A check for something wrong or suspicious.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Lint {
            $(#[doc = concat!("Finds ", $title, ".")] $name,)*
        }

        impl Lint {
            /// Every lint, in order of number.
            pub const ALL: &[Lint] = &[$(Lint::$name,)*];

            /// Returns the severity of the findings; `None` if the lint is off by default.
            pub fn level(self) -> Option<Level> {
                match self {
                    $(Lint::$name => $level,)*
                }
            }

            /// Returns a short title of the problem.
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
/// The level of lints that find a loss of speed, never a wrong answer. They are off by default.
const OFF: Option<Level> = None;

lints! {
    TypeAsTag: ERROR, "a type node attached as a tag";
    MixedFormats: ERROR, "old and new format under one root";
    TwoSpellings: WARNING, "one type spelled in two ways";
    ConflictingTypes: WARNING, "types of one name with different bodies";
    DuplicateTypes: WARNING, "distinct types that are equal";
    OverlappingFields: WARNING, "accessed fields that overlap";
    LayoutMismatch: WARNING, "field offsets that contradict the module's struct type";
    WidthMismatch: WARNING, "an access not as wide as its tag's type";
    PointerUnderTwoTags: WARNING, "one pointer accessed under tags that exclude each other";
    ReadUnderOtherTag: ERROR, "a value stored under one tag and read under another";
    UnionMiscompiled: WARNING, "union members that LLVM takes for apart";
    ImmutableStored: ERROR, "a store to memory that a tag calls immutable";
    Untagged: OFF, "accesses without a tag beside tagged ones";
    UnusedTag: WARNING, "a tag that no instruction has";
    UnusedType: WARNING, "a type that no tag reaches";
    NameTypo: WARNING, "a name that looks misspelled";
    ChosenPointer: WARNING, "a tagged load through a pointer chosen among types";
    TwoRoots: WARNING, "tags of one function under two roots";
    OtherKind: WARNING, "one scalar type on accesses of different LLVM types";
    UnionMembers: WARNING, "members of a union under tags that exclude each other";
    WholeStruct: WARNING, "a whole struct and its members under tags that exclude each other";
    ArgumentMemory: WARNING, "a tagged call with an argument that is memory";
}

impl Lint {
    /// Returns the number of the lint's code: 101 for `TBAA101`.
    pub fn number(self) -> u16 {
        101 + self as u16
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
