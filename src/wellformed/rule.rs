//! The rules, with their codes and LLVM's words for them.

use std::fmt;

use super::level::Level;

/// A rule that well-formed metadata keeps.
///
/// Most are checks of LLVM 22's `TBAAVerifier`. It does not check
/// `tbaa.struct`: the rules of that are the language reference's. Each has the
/// number of its code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[repr(u16)]
pub enum Rule {
    /// A tag needs operands.
    TagEmpty = 1,
    /// A tag is struct-path: its first operand is a node, and it has three or
    /// more.
    TagNotStructPath = 2,
    /// A tag has 3 or 4 operands in the old format, 4 or 5 in the new.
    TagOperandCount = 3,
    /// The size of a size-aware tag is an integer constant.
    TagSize = 4,
    /// The immutability flag is an integer constant.
    TagImmutable = 5,
    /// The immutability flag is 0 or 1.
    TagImmutableRange = 6,
    /// Base and access type are nodes.
    TagTypes = 7,
    /// The access type of an old-format tag is a scalar.
    AccessNotScalar = 8,
    /// The offset of a tag is an integer constant.
    TagOffset = 9,
    /// The path from the base type comes to no type twice.
    PathCycle = 10,
    /// The path arrives at its scalar, or at the access type, with offset 0.
    OffsetAtAccess = 11,
    /// The tag's offset is as wide as the offsets in the types on its path.
    OffsetWidth = 12,
    /// The path meets the access type.
    AccessNotOnPath = 13,
    /// The path finds a field at or before its offset.
    NoFieldAtOffset = 14,
    /// A two-operand type is a scalar: a name and a parent under a root.
    TypeNotScalar = 15,
    /// A type has an odd number of operands in the old format, a multiple of
    /// three in the new.
    TypeOperandCount = 16,
    /// The size of a size-aware type is an integer constant.
    TypeSize = 17,
    /// The name of an old-format type is a string.
    TypeName = 18,
    /// A field's type is a node.
    FieldType = 19,
    /// A field's offset is an integer constant.
    FieldOffset = 20,
    /// The offsets of a type's fields are of one width.
    FieldOffsetWidth = 21,
    /// The offsets of a type's fields do not descend.
    FieldOrder = 22,
    /// The size of a size-aware field is an integer constant.
    FieldSize = 23,
    /// Only `load`, `store`, `call`, `va_arg`, `atomicrmw` and `cmpxchg` have a
    /// tag.
    Instruction = 24,
    /// `!llvm.errno.tbaa` lists a tag.
    ErrnoEmpty = 25,
    /// A `tbaa.struct` node has three operands an entry.
    CopyOperandCount = 31,
    /// An entry's offset is an integer constant.
    CopyOffset = 32,
    /// An entry's size is an integer constant.
    CopySize = 33,
    /// An entry's third operand is a tag.
    CopyTag = 34,
    /// No two entries cover one byte.
    CopyOverlap = 35,
    /// By the union rules: the tag denotes a path through sound types.
    NoUnionPath = 41,
}

impl Rule {
    /// Every rule, in order of number.
    pub const ALL: &[Rule] = &[
        Rule::TagEmpty,
        Rule::TagNotStructPath,
        Rule::TagOperandCount,
        Rule::TagSize,
        Rule::TagImmutable,
        Rule::TagImmutableRange,
        Rule::TagTypes,
        Rule::AccessNotScalar,
        Rule::TagOffset,
        Rule::PathCycle,
        Rule::OffsetAtAccess,
        Rule::OffsetWidth,
        Rule::AccessNotOnPath,
        Rule::NoFieldAtOffset,
        Rule::TypeNotScalar,
        Rule::TypeOperandCount,
        Rule::TypeSize,
        Rule::TypeName,
        Rule::FieldType,
        Rule::FieldOffset,
        Rule::FieldOffsetWidth,
        Rule::FieldOrder,
        Rule::FieldSize,
        Rule::Instruction,
        Rule::ErrnoEmpty,
        Rule::CopyOperandCount,
        Rule::CopyOffset,
        Rule::CopySize,
        Rule::CopyTag,
        Rule::CopyOverlap,
        Rule::NoUnionPath,
    ];

    /// Returns the number of the rule's code: 13 for `TBAA013`.
    #[must_use]
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Returns how bad it is to break the rule.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            // Bit-fields made clang write such copies for years (llvm issues
            // 59328, 82586), and LLVM does not mind.
            Rule::CopyOverlap => Level::Warning,
            _ => Level::Error,
        }
    }

    /// Returns whether LLVM 22's verifier checks the rule.
    #[must_use]
    pub fn is_checked_by_llvm(self) -> bool {
        self.number() < Rule::CopyOperandCount.number()
    }

    /// Returns what LLVM 22 prints when the rule is broken; both texts where it
    /// depends on the format, and nothing where LLVM prints nothing.
    #[must_use]
    pub fn llvm_message(self) -> &'static str {
        match self {
            Rule::TagEmpty => "TBAA metadata cannot have 0 operands",
            Rule::TagNotStructPath => {
                "Old-style TBAA is no longer allowed, use struct-path TBAA instead"
            }
            Rule::TagOperandCount => {
                "Struct tag metadata must have either 3 or 4 operands; \
                 Access tag metadata must have either 4 or 5 operands"
            }
            Rule::TagSize => "Access size field must be a constant",
            Rule::TagImmutable => "Immutability tag on struct tag metadata must be a constant",
            Rule::TagImmutableRange => {
                "Immutability part of the struct tag metadata must be either 0 or 1"
            }
            Rule::TagTypes => {
                "Malformed struct tag metadata: base and access-type should be non-null and \
                 point to Metadata nodes"
            }
            Rule::AccessNotScalar => "Access type node must be a valid scalar type",
            Rule::TagOffset => "Offset must be constant integer",
            Rule::PathCycle => "Cycle detected in struct path",
            Rule::OffsetAtAccess => "Offset not zero at the point of scalar access",
            Rule::OffsetWidth => "Access bit-width not the same as description bit-width",
            Rule::AccessNotOnPath => "Did not see access type in access path!",
            Rule::NoFieldAtOffset => "Could not find TBAA parent in struct type node",
            Rule::TypeOperandCount => {
                "Struct tag nodes must have an odd number of operands!; Access tag nodes must \
                 have the number of operands that is a multiple of 3!"
            }
            Rule::TypeSize => "Type size nodes must be constants!",
            Rule::TypeName => "Struct tag nodes have a string as their first operand",
            Rule::FieldType => "Incorrect field entry in struct type node!",
            Rule::FieldOffset => "Offset entries must be constants!",
            Rule::FieldOffsetWidth => {
                "Bitwidth between the offsets and struct type entries must match"
            }
            Rule::FieldOrder => "Offsets must be increasing!",
            Rule::FieldSize => "Member size entries must be constants!",
            Rule::Instruction => "This instruction shall not have a TBAA access tag!",
            Rule::ErrnoEmpty => "llvm.errno.tbaa must have at least one operand",
            // LLVM rejects the first of these without a word, and does not
            // check the others.
            Rule::TypeNotScalar
            | Rule::CopyOperandCount
            | Rule::CopyOffset
            | Rule::CopySize
            | Rule::CopyTag
            | Rule::CopyOverlap
            | Rule::NoUnionPath => "",
        }
    }

    /// Returns what is wrong where the rule is broken, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Rule::TagEmpty => "a tag without operands",
            Rule::TagNotStructPath => "a tag that is not struct-path: a type node stands here",
            Rule::TagOperandCount => "a tag with too few or too many operands",
            Rule::TagSize => "a size-aware tag whose size is no integer",
            Rule::TagImmutable => "an immutability flag that is no integer",
            Rule::TagImmutableRange => "an immutability flag other than 0 and 1",
            Rule::TagTypes => "a tag whose base or access type is no node",
            Rule::AccessNotScalar => "an access type that is no scalar",
            Rule::TagOffset => "a tag whose offset is no integer",
            Rule::PathCycle => "a type that contains itself on the access path",
            Rule::OffsetAtAccess => "an offset into the middle of the scalar accessed",
            Rule::OffsetWidth => "an offset not as wide as those of the type",
            Rule::AccessNotOnPath => "an access type that the access path does not meet",
            Rule::NoFieldAtOffset => "an offset before the first field",
            Rule::TypeNotScalar => "a two-operand type that is no scalar under a root",
            Rule::TypeOperandCount => "a type with an operand too few or too many",
            Rule::TypeSize => "a size-aware type whose size is no integer",
            Rule::TypeName => "an old-format type whose name is no string",
            Rule::FieldType => "a field whose type is no node",
            Rule::FieldOffset => "a field whose offset is no integer",
            Rule::FieldOffsetWidth => "field offsets of different widths",
            Rule::FieldOrder => "field offsets that descend",
            Rule::FieldSize => "a size-aware field whose size is no integer",
            Rule::Instruction => "a tag on an instruction that may not have one",
            Rule::ErrnoEmpty => "an empty list of errno's tags",
            Rule::CopyOperandCount => "a struct copy whose operands are no triples",
            Rule::CopyOffset => "an entry of a struct copy whose offset is no integer",
            Rule::CopySize => "an entry of a struct copy whose size is no integer",
            Rule::CopyTag => "an entry of a struct copy without a tag",
            Rule::CopyOverlap => "entries of a struct copy that overlap",
            Rule::NoUnionPath => "a tag that denotes no path for the union rules",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
