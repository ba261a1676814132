//! Sizes, alignments and offsets of types.

use super::{DataLayout, PrimitiveSpec};
use crate::context::Symbol;
use crate::{Context, ElementCount, Packing, Primitive, Type, TypeKind};

/// A size or an offset. Each function that returns one says whether it is in bits or bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TypeSize {
    /// The size; for a scalable one, the factor before `vscale`.
    pub min: u64,
    /// True if the size is a multiple of `vscale`, which is known only at run time.
    pub scalable: bool,
}

impl TypeSize {
    /// Returns a size that does not depend on `vscale`.
    pub const fn fixed(size: u64) -> Self {
        TypeSize { min: size, scalable: false }
    }
}

/// The reason why a type has no size, alignment or struct layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The type is or contains an opaque struct, a function, `void` or another type without a size.
    /// A struct with a scalable element has no size, unless its elements are all of one scalable
    /// vector type.
    #[error("the type has no size; give every struct in it a body")]
    Unsized,
    /// The type takes 2^61 bytes or more, so its size in bits does not fit into 64 bits. LLVM's
    /// result wraps around.
    #[error("the type takes 2^61 bytes or more")]
    TooLarge,
    /// A struct layout was requested for a type that is not a struct.
    #[error("only a struct has a struct layout")]
    NotStruct,
}

/// The offsets of a struct's elements. LLVM: `StructLayout`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct StructLayout {
    /// Bytes from the start of the struct to each element.
    pub offsets: Vec<TypeSize>,
    /// The size in bytes, with the padding at the end.
    pub size: TypeSize,
    /// The alignment in bytes. The data layout's minimum for structs is not applied.
    pub align: u64,
    /// True if there is padding between or after elements.
    pub padded: bool,
}

/// A type's sizes and alignments: `bits` in bits; `abi`, `preferred`, `alloc` (padded) in bytes.
#[derive(Clone, Copy, Debug)]
struct Measure {
    bits: u64,
    alloc: u64,
    abi: u64,
    preferred: u64,
    scalable: bool,
}

type Measured = Result<Measure, LayoutError>;

/// The sizes and alignments of a context's types under one data layout.
///
/// Each type is measured once. Methods may fail with [`LayoutError::Unsized`] or
/// [`LayoutError::TooLarge`], and panic if a type was issued by another context.
pub struct Layouts<'a> {
    layout: &'a DataLayout,
    context: &'a Context,
    known: Vec<Option<Measured>>,
}

/// Results cached by a [`Layouts`], to be reused after types are added to the context.
#[doc(hidden)]
#[derive(Clone, Default, Debug)]
pub struct Measures(Vec<Option<Measured>>);

impl DataLayout {
    /// Returns the sizes and alignments of a context's types.
    pub fn layouts<'a>(&'a self, context: &'a Context) -> Layouts<'a> {
        self.layouts_after(context, Measures::default())
    }

    /// Like [`layouts`](Self::layouts), but reuses earlier results.
    #[doc(hidden)]
    pub fn layouts_after<'a>(
        &'a self,
        context: &'a Context,
        Measures(mut known): Measures,
    ) -> Layouts<'a> {
        known.resize(context.type_count(), None);
        Layouts { layout: self, context, known }
    }
}

impl Layouts<'_> {
    #[doc(hidden)]
    pub fn into_measures(self) -> Measures {
        Measures(self.known)
    }

    /// Returns how many bits a value has: 1 for `i1`, 80 for `x86_fp80`.
    /// LLVM: `DataLayout::getTypeSizeInBits`.
    pub fn size_in_bits(&mut self, ty: Type) -> Result<TypeSize, LayoutError> {
        self.measure(ty).map(|of| TypeSize { min: of.bits, scalable: of.scalable })
    }

    /// Returns the number of bytes that a store may overwrite: 1 for `i1`, 10 for `x86_fp80`.
    ///
    /// # Errors
    ///
    /// The same as for [`Layouts::size_in_bits`].
    ///
    /// LLVM: `DataLayout::getTypeStoreSize`.
    pub fn store_size(&mut self, ty: Type) -> Result<TypeSize, LayoutError> {
        self.measure(ty).map(|of| TypeSize { min: of.bits.div_ceil(8), scalable: of.scalable })
    }

    /// Returns the distance in bytes between two elements of an array, including padding.
    /// LLVM: `DataLayout::getTypeAllocSize`.
    pub fn alloc_size(&mut self, ty: Type) -> Result<TypeSize, LayoutError> {
        self.measure(ty).map(|of| TypeSize { min: of.alloc, scalable: of.scalable })
    }

    /// Returns the alignment that the ABI requires, in bytes. LLVM: `DataLayout::getABITypeAlign`.
    pub fn abi_align(&mut self, ty: Type) -> Result<u64, LayoutError> {
        self.measure(ty).map(|of| of.abi)
    }

    /// Returns the target's preferred alignment, in bytes. LLVM: `DataLayout::getPrefTypeAlign`.
    pub fn preferred_align(&mut self, ty: Type) -> Result<u64, LayoutError> {
        self.measure(ty).map(|of| of.preferred)
    }

    /// Returns the offsets of a struct's elements.
    ///
    /// # Errors
    ///
    /// [`LayoutError::NotStruct`], and the errors of the other methods. LLVM:
    /// `DataLayout::getStructLayout`.
    pub fn struct_layout(&mut self, ty: Type) -> Result<StructLayout, LayoutError> {
        let (elements, packing) = match self.context.kind(ty) {
            TypeKind::Literal { elements, packing }
            | TypeKind::Identified { body: Some(elements), packing, .. } => (elements, packing),
            TypeKind::Identified { body: None, .. } => return Err(LayoutError::Unsized),
            _ => return Err(LayoutError::NotStruct),
        };
        self.measure(ty)?;
        let mut offsets = Vec::with_capacity(elements.len());
        let place = self.place(elements, packing, |offset| offsets.push(offset))?;
        Ok(StructLayout { offsets, ..place })
    }

    fn measure(&mut self, ty: Type) -> Measured {
        assert!(self.context.owns(ty), "{ty:?} was issued by another context");
        // Each type is on the stack twice: before its parts, and again once they are measured.
        let mut work = vec![(ty, false)];
        while let Some((next, parts_known)) = work.pop() {
            if parts_known {
                self.known[next.index()] = Some(self.compute(next));
            } else if self.known[next.index()].is_none() {
                // Unmeasured types count as unsized, so a struct that contains itself is unsized.
                self.known[next.index()] = Some(Err(LayoutError::Unsized));
                work.push((next, true));
                if Context::holds_parts(self.context.symbol(next)) {
                    let parts = self.context.parts(next).iter().map(|&part| (part, false));
                    work.extend(parts.filter(|(part, _)| self.known[part.index()].is_none()));
                }
            }
        }
        self.get(ty)
    }

    fn get(&self, ty: Type) -> Measured {
        self.known[ty.index()].unwrap_or(Err(LayoutError::Unsized))
    }

    /// Computes the sizes and alignments of a type whose parts are measured.
    fn compute(&self, ty: Type) -> Measured {
        match self.context.kind(ty) {
            TypeKind::Primitive(primitive) => self.primitive(primitive),
            TypeKind::Int(bits) => self.int(bits),
            TypeKind::Pointer { address_space, .. } => self.pointer(address_space),
            TypeKind::Array { element, len } => array(self.get(element)?, len),
            TypeKind::Vector { element, count } => {
                let of = self.get(element)?;
                self.vector(of.bits, count)
            }
            TypeKind::Literal { elements, packing }
            | TypeKind::Identified { body: Some(elements), packing, .. } => {
                self.structure(elements, packing)
            }
            TypeKind::Identified { body: None, .. } | TypeKind::Function { .. } => {
                Err(LayoutError::Unsized)
            }
            TypeKind::Target { name, types, ints } => self.target(name, types, ints),
        }
    }

    fn int(&self, bits: u32) -> Measured {
        // The smallest width in the table that is large enough, or else the largest width.
        let specs = &self.layout.ints;
        let at = specs.partition_point(|spec| spec.bits < bits).min(specs.len() - 1);
        fixed(u64::from(bits), specs[at].abi, specs[at].preferred)
    }

    fn pointer(&self, address_space: u32) -> Measured {
        let spec = self.layout.pointer(address_space);
        fixed(u64::from(spec.bits), spec.abi, spec.preferred)
    }

    fn primitive(&self, primitive: Primitive) -> Measured {
        use Primitive::{
            BFloat, Double, Float, Fp128, Half, Label, Metadata, PpcFp128, Token, Void, X86Amx,
            X86Fp80,
        };
        let bits = match primitive {
            Half | BFloat => 16,
            Float => 32,
            Double => 64,
            X86Fp80 => 80,
            Fp128 | PpcFp128 => 128,
            X86Amx => return fixed(8192, 64, 64),
            Void | Label | Metadata | Token => return Err(LayoutError::Unsized),
        };
        by_width(&self.layout.floats, bits)
    }

    fn vector(&self, element_bits: u64, count: ElementCount) -> Measured {
        let bits = element_bits.checked_mul(count.min().into()).ok_or(LayoutError::TooLarge)?;
        Ok(Measure { scalable: count.is_scalable(), ..by_width(&self.layout.vectors, bits)? })
    }

    /// Measures a target type. LLVM: `TargetExtType::getLayoutType`.
    fn target(&self, name: &[u8], types: &[Type], ints: &[u32]) -> Measured {
        match name {
            b"spirv.IntegralConstant" | b"spirv.Literal" => Err(LayoutError::Unsized),
            b"spirv.Type" => match ints {
                // `ints`: an opcode, a size in bytes, an alignment that is used as a width in bits.
                [_, size, align] if *size > 0 && *align > 0 => {
                    array(self.int(*align)?, u64::from(size.wrapping_mul(8) / align))
                }
                _ => self.int(32),
            },
            b"aarch64.svcount" => self.vector(1, ElementCount::Scalable(16)),
            b"riscv.vector.tuple" => {
                // A tuple of `fields` fields. Each has a byte per vector element, at least 8 bytes.
                let len = match types.first().map(|&ty| self.context.kind(ty)) {
                    Some(TypeKind::Vector { count, .. }) => count.min().max(8),
                    _ => return Err(LayoutError::Unsized),
                };
                match ints.first().map_or(0, |&fields| len.wrapping_mul(fields)) {
                    0 => Err(LayoutError::Unsized),
                    count => self.vector(8, ElementCount::Scalable(count)),
                }
            }
            b"amdgcn.named.barrier" => self.vector(32, ElementCount::Fixed(4)),
            b"llvm.test.vectorelement" => self.int(32),
            _ if name.starts_with(b"spirv.") || name.starts_with(b"dx.") => self.pointer(0),
            _ => Err(LayoutError::Unsized),
        }
    }

    fn structure(&self, elements: &[Type], packing: Packing) -> Measured {
        let packed = packing == Packing::Packed;
        let is_vector =
            |&ty: &Type| matches!(self.context.symbol(ty), Symbol::Vector { scalable: true, .. });
        let homogeneous =
            elements.first().is_some_and(is_vector) && elements.iter().all(|ty| *ty == elements[0]);
        for &element in elements {
            if self.get(element)?.scalable && !homogeneous {
                return Err(LayoutError::Unsized);
            }
        }
        let place = self.place(elements, packing, |_| {})?;
        let bits = place.size.min.checked_mul(8).ok_or(LayoutError::TooLarge)?;
        let abi = if packed { 1 } else { place.align.max(self.layout.aggregate_abi) };
        let alloc = if packed { place.size.min } else { align_to(place.size.min, abi)? };
        let preferred = place.align.max(self.layout.aggregate_preferred);
        Ok(Measure { bits, alloc, abi, preferred, scalable: place.size.scalable })
    }

    /// Places each element after the one before. Passes its offset to `at`. LLVM: `StructLayout`.
    fn place(
        &self,
        elements: &[Type],
        packing: Packing,
        mut at: impl FnMut(TypeSize),
    ) -> Result<StructLayout, LayoutError> {
        let mut size = TypeSize::fixed(0);
        let (mut align, mut padded) = (1, false);
        for &element in elements {
            let of = self.get(element)?;
            size.scalable |= of.scalable;
            let demanded = if packing == Packing::Packed { 1 } else { of.abi };
            if !size.scalable {
                let aligned = align_to(size.min, demanded)?;
                padded |= aligned != size.min;
                size.min = aligned;
            }
            align = align.max(demanded);
            at(size);
            size.min = size.min.checked_add(of.alloc).ok_or(LayoutError::TooLarge)?;
        }
        if !size.scalable {
            let aligned = align_to(size.min, align)?;
            padded |= aligned != size.min;
            size.min = aligned;
        }
        Ok(StructLayout { offsets: Vec::new(), size, align, padded })
    }
}

fn fixed(bits: u64, abi: u64, preferred: u64) -> Measured {
    let alloc = align_to(bits.div_ceil(8), abi)?;
    Ok(Measure { bits, alloc, abi, preferred, scalable: false })
}

fn array(of: Measure, len: u64) -> Measured {
    let alloc = of.alloc.checked_mul(len).ok_or(LayoutError::TooLarge)?;
    let bits = alloc.checked_mul(8).ok_or(LayoutError::TooLarge)?;
    Ok(Measure { bits, alloc, ..of })
}

fn align_to(size: u64, align: u64) -> Result<u64, LayoutError> {
    size.checked_next_multiple_of(align).ok_or(LayoutError::TooLarge)
}

/// Measures a type of `bits` bits, whose alignments `specs` may give.
fn by_width(specs: &[PrimitiveSpec], bits: u64) -> Measured {
    // LLVM truncates the width to 32 bits before it looks it up.
    let found = specs.binary_search_by_key(&(bits as u32), |spec| spec.bits);
    let natural = bits.div_ceil(8).next_power_of_two();
    let (abi, preferred) =
        found.map_or((natural, natural), |at| (specs[at].abi, specs[at].preferred));
    fixed(bits, abi, preferred)
}
