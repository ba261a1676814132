//! The rules of well-formed metadata, with their codes, their levels and LLVM's messages.

use std::fmt;

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Level {
    /// The code is likely a mistake, or prevents optimisations.
    Warning,
    /// LLVM rejects the code, or may miscompile it.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Level::Warning => "warning",
            Level::Error => "error",
        })
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $number:literal, $title:literal, $llvm:literal;)*) => {
        /// A rule of well-formed metadata.
        ///
        /// Most rules are checks of LLVM 22's `TBAAVerifier`. It does not check `tbaa.struct`: the
        /// rules for `tbaa.struct` come from LLVM's language reference.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum Rule { $($(#[$doc])* $rule = $number,)* }

        impl Rule {
            /// All rules, in the order of their numbers.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];

            /// Returns a short description of the violation.
            pub fn title(self) -> &'static str {
                match self { $(Rule::$rule => $title,)* }
            }

            /// Returns LLVM 22's message when the rule is broken: both messages if they depend on
            /// the format, and an empty text if LLVM prints none.
            pub fn llvm_message(self) -> &'static str {
                match self { $(Rule::$rule => $llvm,)* }
            }
        }
    };
}

// Each rule has a description of its violation, and LLVM's message. LLVM's verifier prints no
// message for `TypeNotScalar`, and does not check the rules from `CopyOperandCount` on.
rules! {
    /// A tag needs operands.
    TagEmpty = 1, "a tag without operands", "TBAA metadata cannot have 0 operands";
    /// A tag is struct-path: its first operand is a node, and it has three or more operands.
    TagNotStructPath = 2, "a tag that is not struct-path: a type node stands here",
        "Old-style TBAA is no longer allowed, use struct-path TBAA instead";
    /// A tag has 3 or 4 operands in the old format, 4 or 5 in the new.
    TagOperandCount = 3, "a tag with too few or too many operands",
        "Struct tag metadata must have either 3 or 4 operands; \
         Access tag metadata must have either 4 or 5 operands";
    /// The size of a size-aware tag is an integer constant.
    TagSize = 4, "a size-aware tag whose size is no integer", "Access size field must be a constant";
    /// The immutability flag is an integer constant.
    TagImmutable = 5, "an immutability flag that is no integer",
        "Immutability tag on struct tag metadata must be a constant";
    /// The immutability flag is 0 or 1.
    TagImmutableRange = 6, "an immutability flag other than 0 and 1",
        "Immutability part of the struct tag metadata must be either 0 or 1";
    /// Base and access type are nodes.
    TagTypes = 7, "a tag whose base or access type is no node",
        "Malformed struct tag metadata: base and access-type should be non-null and point to \
         Metadata nodes";
    /// The access type of an old-format tag is a scalar.
    AccessNotScalar = 8, "an access type that is no scalar",
        "Access type node must be a valid scalar type";
    /// The offset of a tag is an integer constant.
    TagOffset = 9, "a tag whose offset is no integer", "Offset must be constant integer";
    /// The path from the base type visits no type twice.
    PathCycle = 10, "a type that contains itself on the access path", "Cycle detected in struct path";
    /// The path reaches its scalar, or the access type, at offset 0.
    OffsetAtAccess = 11, "an offset into the middle of the scalar accessed",
        "Offset not zero at the point of scalar access";
    /// The tag's offset is as wide as the offsets in the types on its path.
    OffsetWidth = 12, "an offset not as wide as those of the type",
        "Access bit-width not the same as description bit-width";
    /// The path visits the access type.
    AccessNotOnPath = 13, "an access type that the access path does not meet",
        "Did not see access type in access path!";
    /// Each struct on the path has a field at or before the offset.
    NoFieldAtOffset = 14, "an offset before the first field",
        "Could not find TBAA parent in struct type node";
    /// A two-operand type is a scalar: a name and a parent under a root.
    TypeNotScalar = 15, "a two-operand type that is no scalar under a root", "";
    /// A type has an odd number of operands in the old format, a multiple of three in the new.
    TypeOperandCount = 16, "a type with an operand too few or too many",
        "Struct tag nodes must have an odd number of operands!; \
         Access tag nodes must have the number of operands that is a multiple of 3!";
    /// The size of a size-aware type is an integer constant.
    TypeSize = 17, "a size-aware type whose size is no integer", "Type size nodes must be constants!";
    /// The name of an old-format type is a string.
    TypeName = 18, "an old-format type whose name is no string",
        "Struct tag nodes have a string as their first operand";
    /// A field's type is a node.
    FieldType = 19, "a field whose type is no node", "Incorrect field entry in struct type node!";
    /// A field's offset is an integer constant.
    FieldOffset = 20, "a field whose offset is no integer", "Offset entries must be constants!";
    /// The offsets of a type's fields are of one width.
    FieldOffsetWidth = 21, "field offsets of different widths",
        "Bitwidth between the offsets and struct type entries must match";
    /// The offsets of a type's fields do not descend.
    FieldOrder = 22, "field offsets that descend", "Offsets must be increasing!";
    /// The size of a size-aware field is an integer constant.
    FieldSize = 23, "a size-aware field whose size is no integer",
        "Member size entries must be constants!";
    /// Only `load`, `store`, `call`, `va_arg`, `atomicrmw` and `cmpxchg` may have a tag.
    Instruction = 24, "a tag on an instruction that may not have one",
        "This instruction shall not have a TBAA access tag!";
    /// `!llvm.errno.tbaa` lists at least one tag.
    ErrnoEmpty = 25, "an empty list of errno's tags", "llvm.errno.tbaa must have at least one operand";
    /// A `tbaa.struct` node has three operands for each entry.
    CopyOperandCount = 31, "a struct copy whose operands are no triples", "";
    /// An entry's offset is an integer constant.
    CopyOffset = 32, "an entry of a struct copy whose offset is no integer", "";
    /// An entry's size is an integer constant.
    CopySize = 33, "an entry of a struct copy whose size is no integer", "";
    /// An entry's third operand is a tag.
    CopyTag = 34, "an entry of a struct copy without a tag", "";
    /// No two entries cover the same byte.
    CopyOverlap = 35, "entries of a struct copy that overlap", "";
    /// For the alias rules other than `llvm`, a tag has a path through well-formed types to its
    /// access type.
    NoUnionPath = 41, "a tag that denotes no path for the union rules", "";
    /// LLVM can read every operand of every plain node (`!{...}`) of a text, used or not.
    Unreadable = 51, "an operand that LLVM cannot read", "";
}

impl Rule {
    /// Returns the number of the rule's code: 13 for `TBAA013`.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// Returns the severity of breaking the rule.
    pub fn level(self) -> Level {
        match self {
            // For years, clang wrote overlapping entries for structs with bit-fields (LLVM issues
            // 59328, 82586), and LLVM accepts them.
            Rule::CopyOverlap => Level::Warning,
            _ => Level::Error,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
