//! The kinds of types, and the errors for types that cannot be made.

use super::Type;

/// The widest integer type, in bits. LLVM: `IntegerType::MAX_INT_BITS`.
pub const MAX_INT_BITS: u32 = 1 << 23;

/// The number of address spaces.
///
/// LLVM stores an address space in the 24 bits of `Type::SubclassData`.
pub const ADDRESS_SPACES: u32 = 1 << 24;

macro_rules! primitives {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// A type without element types and parameters. LLVM: `PrimitiveTypes` of `Type::TypeID`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum Primitive {
            $(#[doc = $doc] $variant,)*
        }

        impl Primitive {
            /// Every primitive type.
            pub const ALL: &'static [Primitive] = &[$(Primitive::$variant,)*];

            /// Returns the type's name in LLVM assembly.
            pub fn name(self) -> &'static str {
                match self {
                    $(Primitive::$variant => $name,)*
                }
            }
        }
    };
}

primitives! {
    Void "void" "No value and no size.",
    Half "half" "16-bit IEEE floating point.",
    BFloat "bfloat" "16-bit floating point with the exponent of `float`.",
    Float "float" "32-bit IEEE floating point.",
    Double "double" "64-bit IEEE floating point.",
    X86Fp80 "x86_fp80" "80-bit x87 floating point.",
    Fp128 "fp128" "128-bit IEEE floating point.",
    PpcFp128 "ppc_fp128" "PowerPC's pair of two `double`s.",
    Label "label" "A basic block.",
    Metadata "metadata" "Metadata as an argument of a call.",
    Token "token" "A value that must not be looked into.",
    X86Amx "x86_amx" "An AMX tile register: 8192 bits.",
}

impl Primitive {
    /// Returns whether this is one of the floating-point types.
    pub fn is_floating_point(self) -> bool {
        use Primitive::{BFloat, Double, Float, Fp128, Half, PpcFp128, X86Fp80};
        matches!(self, Half | BFloat | Float | Double | X86Fp80 | Fp128 | PpcFp128)
    }
}

/// The number of a vector's elements. LLVM: `ElementCount`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementCount {
    /// A fixed number: `<4 x i32>`.
    Fixed(u32),
    /// A multiple of `vscale`, which is known only at run time: `<vscale x 4 x i32>`.
    Scalable(u32),
}

impl ElementCount {
    /// Returns the number of elements; for a scalable vector, the factor before `vscale`. LLVM:
    /// `ElementCount::getKnownMinValue`.
    pub fn min(self) -> u32 {
        let (ElementCount::Fixed(count) | ElementCount::Scalable(count)) = self;
        count
    }

    /// Returns whether the number is a multiple of `vscale`.
    pub fn is_scalable(self) -> bool {
        matches!(self, ElementCount::Scalable(_))
    }
}

/// Says whether a struct has padding to align its elements. LLVM: `StructType::isPacked`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Packing {
    /// Padding aligns each element: `{ i8, i32 }`.
    Padded,
    /// There is no padding: `<{ i8, i32 }>`.
    Packed,
}

/// A type's kind, with the types and numbers that it consists of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TypeKind<'c> {
    /// `float`, `void`, ...
    Primitive(Primitive),
    /// `i32`: an integer with the given number of bits.
    Int(u32),
    /// `ptr`, `ptr addrspace(1)`; before LLVM 17 also `i8*`.
    Pointer {
        /// The number of the address space, less than [`ADDRESS_SPACES`].
        address_space: u32,
        /// The type that a typed pointer points to; `None` for `ptr`.
        pointee: Option<Type>,
    },
    /// `[4 x i32]`.
    Array {
        /// The type of each element.
        element: Type,
        /// The number of elements.
        len: u64,
    },
    /// `<4 x i32>`, `<vscale x 4 x i32>`.
    Vector {
        /// The type of each element.
        element: Type,
        /// The number of elements.
        count: ElementCount,
    },
    /// `i32 (ptr, ...)`.
    Function {
        /// The type of the result.
        result: Type,
        /// The types of the parameters.
        params: &'c [Type],
        /// True for a function with variable arguments.
        var_arg: bool,
    },
    /// `{ i32, float }`: a struct that is identified by its elements and packing, and has no name.
    Literal {
        /// The types of the elements.
        elements: &'c [Type],
        /// Says whether elements are padded.
        packing: Packing,
    },
    /// `%struct.Point`: a struct that differs from all others, even from those with the same body.
    Identified {
        /// The name, unique in the context; `None` for a struct that prints as `%0`, `%1`, ...
        name: Option<&'c [u8]>,
        /// The types of the elements; `None` while the struct is opaque.
        body: Option<&'c [Type]>,
        /// Says whether elements are padded.
        packing: Packing,
    },
    /// `target("spirv.Image", void, 1)`.
    Target {
        /// The name, such as `spirv.Image`.
        name: &'c [u8],
        /// The type parameters.
        types: &'c [Type],
        /// The integer parameters.
        ints: &'c [u32],
    },
}

/// The reason why a context refused a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TypeError {
    /// An integer of 0 bits, or of more than [`MAX_INT_BITS`].
    #[error("an integer of {0} bits: it must have 1 to {MAX_INT_BITS}")]
    IntWidth(u64),
    /// An address space of [`ADDRESS_SPACES`] or more.
    #[error("address space {0}: it must be less than {ADDRESS_SPACES}")]
    AddressSpace(u64),
    /// A vector of no elements, or of 2^32 or more.
    #[error("a vector of {0} elements: it must have 1 to {most}", most = u32::MAX)]
    VectorLength(u64),
    /// A type that cannot be used in this position, such as `void` in an array.
    #[error("{ty} cannot be {place}")]
    Element {
        /// The position: "an element of an array", ...
        place: &'static str,
        /// The type in LLVM assembly.
        ty: String,
    },
    /// A target type with wrong parameters.
    #[error("the target type takes {takes}")]
    TargetParameters {
        /// The parameters that this target type takes.
        takes: &'static str,
    },
    /// A body for a type that is not an identified struct.
    #[error("a body can be set only for an identified struct")]
    NotIdentified,
    /// A body for a struct that has one already.
    #[error("the struct has a body already; make another")]
    HasBody,
    /// A struct that would contain itself.
    #[error("{} contains itself; let it contain a pointer", struct_name(.name))]
    Recursive {
        /// The struct's name, if it has one.
        name: Option<String>,
    },
    /// A name with a byte 0 in it.
    #[error("a name cannot have a byte 0")]
    Name,
    /// A type id of another context.
    #[error("a type that another context issued")]
    ForeignId,
    /// The context holds 2^31 types or elements, its limit.
    #[error(
        "the context is full: it holds at most 2^31 types and elements; make a context for each \
         module"
    )]
    Full,
}

fn struct_name(name: &Option<String>) -> String {
    name.as_ref().map_or_else(|| "a struct".to_owned(), |name| format!("struct %{name}"))
}
