//! Data layouts: the sizes of types and the offsets of a struct's elements.
//!
//! A [`DataLayout`] holds the contents of `target datalayout = "..."`. [`Layouts`] computes the
//! sizes of a context's types under a data layout.

mod measure;
mod spec;

#[doc(hidden)]
pub use measure::Measures;
pub use measure::{LayoutError, Layouts, StructLayout, TypeSize};
pub use spec::DataLayoutError;

/// The alignments of integers, floating-point numbers or vectors that have the given width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct PrimitiveSpec {
    /// The width in bits.
    pub bits: u32,
    /// The ABI alignment in bytes.
    pub abi: u64,
    /// The preferred alignment in bytes.
    pub preferred: u64,
}

/// The size and alignment of the pointers of an address space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct PointerSpec {
    /// The number of the address space.
    pub address_space: u32,
    /// The width in bits.
    pub bits: u32,
    /// The ABI alignment in bytes.
    pub abi: u64,
    /// The preferred alignment in bytes.
    pub preferred: u64,
    /// The width in bits of an index in address computations (`getelementptr`).
    pub index_bits: u32,
    /// True if a pointer's bits may change while it points to the same object.
    pub unstable: bool,
    /// True if a pointer has state besides its bits.
    pub external_state: bool,
    /// The name of the address space; empty if it has none.
    pub name: String,
}

/// The meaning of the alignment of function pointers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FunctionPointerAlign {
    /// The alignment does not depend on that of functions.
    Independent,
    /// The alignment is a multiple of the function's alignment.
    MultipleOfFunctionAlign,
}

macro_rules! manglings {
    ($($name:ident $letter:literal)*) => {
        /// The rules by which names of symbols are mangled.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum Mangling {
            $(#[doc = concat!("`m:", $letter, "`")] $name,)*
        }

        const MANGLINGS: &[(&str, Mangling)] = &[$(($letter, Mangling::$name),)*];
    };
}

manglings! { Elf "e" Goff "l" MachO "o" Mips "m" WinCoff "w" WinCoffX86 "x" Xcoff "a" }

/// The contents of a target's data layout string.
///
/// ```
/// use tbaa_types::{Context, DataLayout, Packing, TypeSize};
///
/// let layout: DataLayout = "e-m:e-p:32:32-i64:64".parse()?;
/// // { ptr, i64, i8 }
/// let mut context = Context::new();
/// let elements = [context.pointer(0)?, context.int(64)?, context.int(8)?];
/// let ty = context.literal_struct(&elements, Packing::Padded)?;
/// let mut layouts = layout.layouts(&context);
/// assert_eq!(layouts.alloc_size(ty), Ok(TypeSize::fixed(24)));
/// assert_eq!(layouts.struct_layout(ty).unwrap().offsets, [0, 8, 16].map(TypeSize::fixed));
/// assert_eq!(layout.to_string(), "e-m:e-p:32:32-i64:64");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// LLVM: `DataLayout`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct DataLayout {
    /// True if the most significant byte comes first.
    pub big_endian: bool,
    /// The address space of `alloca`.
    pub alloca_address_space: u32,
    /// The address space of functions.
    pub program_address_space: u32,
    /// The address space of global variables.
    pub globals_address_space: u32,
    /// The natural alignment of the stack, in bytes.
    pub stack_align: Option<u64>,
    /// The ABI alignment of function pointers, in bytes.
    pub function_pointer_align: Option<u64>,
    /// The meaning of `function_pointer_align`.
    pub function_pointer: FunctionPointerAlign,
    /// The rules by which names of symbols are mangled.
    pub mangling: Option<Mangling>,
    /// The widths in bits of the machine's native integers.
    pub native_ints: Vec<u32>,
    /// Alignments of integers. The lists `ints`, `floats` and `vectors` are sorted by width.
    ints: Vec<PrimitiveSpec>,
    floats: Vec<PrimitiveSpec>,
    vectors: Vec<PrimitiveSpec>,
    /// Pointer specifications, sorted by address space, beginning with address space 0.
    pointers: Vec<PointerSpec>,
    /// The least ABI alignment of a struct that is not packed, in bytes.
    pub aggregate_abi: u64,
    /// The lower bound of a struct's preferred alignment, in bytes.
    pub aggregate_preferred: u64,
}

const fn spec(bits: u32, abi: u64, preferred: u64) -> PrimitiveSpec {
    PrimitiveSpec { bits, abi, preferred }
}

/// The default alignments of integers. LLVM: `DefaultIntSpecs`.
const INTS: [PrimitiveSpec; 4] = [spec(8, 1, 1), spec(16, 2, 2), spec(32, 4, 4), spec(64, 4, 8)];
/// The default alignments of floating-point numbers. LLVM: `DefaultFloatSpecs`.
const FLOATS: [PrimitiveSpec; 4] =
    [spec(16, 2, 2), spec(32, 4, 4), spec(64, 8, 8), spec(128, 16, 16)];
/// The default alignments of vectors. LLVM: `DefaultVectorSpecs`.
const VECTORS: [PrimitiveSpec; 2] = [spec(64, 8, 8), spec(128, 16, 16)];
/// The default specification of pointers. LLVM: `DefaultPointerSpecs`.
const POINTER: PointerSpec = PointerSpec {
    address_space: 0,
    bits: 64,
    abi: 8,
    preferred: 8,
    index_bits: 64,
    unstable: false,
    external_state: false,
    name: String::new(),
};

impl Default for DataLayout {
    /// Returns the layout that an empty string describes.
    fn default() -> Self {
        DataLayout {
            big_endian: false,
            alloca_address_space: 0,
            program_address_space: 0,
            globals_address_space: 0,
            stack_align: None,
            function_pointer_align: None,
            function_pointer: FunctionPointerAlign::Independent,
            mangling: None,
            native_ints: Vec::new(),
            ints: INTS.to_vec(),
            floats: FLOATS.to_vec(),
            vectors: VECTORS.to_vec(),
            pointers: vec![POINTER],
            aggregate_abi: 1,
            aggregate_preferred: 8,
        }
    }
}

impl DataLayout {
    /// Returns the pointer specification of this address space, or else of address space 0.
    ///
    /// LLVM: `DataLayout::getPointerSpec`.
    pub fn pointer(&self, address_space: u32) -> &PointerSpec {
        let found = self.pointers.binary_search_by_key(&address_space, |spec| spec.address_space);
        &self.pointers[found.unwrap_or(0)]
    }
}
