//! Computes the sizes of the types that a module's text names.

use std::cell::RefCell;

use super::types::{Definitions, ParseError, ReadTypes};
use crate::Module;
use tbaa::parts::table::HashMap;
use tbaa_types::{Context, DataLayout, Layouts, Measures, Type, TypeKind};

/// Computes the sizes of a module's types, using its data layout.
///
/// Each spelling of a type is parsed only once, and each type is measured only once.
///
/// ```
/// use tbaa_ir::Sizes;
///
/// let text = br#"target datalayout = "e-p:32:32-p1:64:64"
/// %struct.S = type { ptr, i16 }
/// "#;
/// let sizes = Sizes::new(&tbaa_ir::read(text)?);
/// let bytes = |ty: &str| sizes.of(ty.as_bytes()).map(|size| (size.store, size.alloc));
/// assert_eq!(bytes("ptr"), Some((4, 4)));
/// assert_eq!(bytes("ptr addrspace(1)"), Some((8, 8)));
/// assert_eq!(bytes("%struct.S"), Some((8, 8)));
/// assert_eq!(bytes("i24"), Some((3, 4)));
/// assert_eq!(bytes("<vscale x 4 x i32>"), None);
/// assert_eq!(sizes.minimum(b"<vscale x 4 x i32>").unwrap().store, 16);
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Debug)]
pub struct Sizes {
    definitions: Definitions,
    layout: DataLayout,
    has_layout: bool,
    known: RefCell<Known>,
}

#[derive(Default, Debug)]
struct Known {
    context: Context,
    measures: Measures,
    types: HashMap<Box<[u8]>, Option<Type>>,
    sizes: HashMap<Type, Option<MemorySize>>,
}

/// The offset that a `getelementptr` adds to its base pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// The offset that the constant indices add, in bytes.
    pub bytes: i64,
    /// Each variable index: its position in the list of indices, and its factor in bytes.
    pub variables: Vec<(usize, i64)>,
}

/// The size of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct MemorySize {
    /// Bytes that a store may write: 10 for `x86_fp80`. LLVM: `DataLayout::getTypeStoreSize`.
    pub store: u64,
    /// Bytes from one element of an array to the next: 16 for `x86_fp80` on x86-64.
    /// LLVM: `DataLayout::getTypeAllocSize`.
    pub alloc: u64,
    /// True if both sizes are multiplied by `vscale`, which is known only at run time.
    pub scalable: bool,
}

impl Sizes {
    /// Reads the data layout and the struct types of a module.
    ///
    /// If the module has no layout, or one that LLVM 22 rejects, LLVM's default layout is used. If
    /// the type definitions cannot be read, named structs have no size.
    pub fn new(module: &Module<'_>) -> Self {
        let mut context = Context::default();
        let definitions = module.read_types(&mut context).unwrap_or_default();
        Self::of_types(module, context, definitions)
    }

    /// Like [`new`](Self::new), but fails as [`Module::read_types`] does.
    pub fn read(module: &Module<'_>) -> Result<Self, ParseError> {
        let mut context = Context::default();
        let definitions = module.read_types(&mut context)?;
        Ok(Self::of_types(module, context, definitions))
    }

    fn of_types(module: &Module<'_>, context: Context, definitions: Definitions) -> Self {
        let layout = module.data_layout().and_then(|(it, _)| str::from_utf8(it).ok()?.parse().ok());
        let (has_layout, layout) = (layout.is_some(), layout.unwrap_or_default());
        let known = Known { context, ..Known::default() };
        Sizes { definitions, layout, has_layout, known: RefCell::new(known) }
    }

    /// Returns the context with the types, the module's type definitions, and its data layout.
    pub fn into_parts(self) -> (Context, Definitions, DataLayout) {
        (self.known.into_inner().context, self.definitions, self.layout)
    }

    /// Returns whether the module has a data layout that LLVM 22 accepts. Without one, the sizes of
    /// pointers are a guess.
    pub fn has_layout(&self) -> bool {
        self.has_layout
    }

    /// Returns the size of a type such as `%struct.S`; `None` if invalid, unsized or scalable.
    pub fn of(&self, ty: &[u8]) -> Option<MemorySize> {
        self.fixed_size(self.ty(ty)?)
    }

    /// Returns the size of a type of this module, or `None` if the type is unsized or scalable.
    pub fn fixed_size(&self, ty: Type) -> Option<MemorySize> {
        self.size_of(ty).filter(|size| !size.scalable)
    }

    /// Like [`of`](Self::of), but for a scalable vector it returns the size at `vscale` 1.
    pub fn minimum(&self, ty: &[u8]) -> Option<MemorySize> {
        self.size_of(self.ty(ty)?)
    }

    /// Parses a type in this module's context. Returns `None` if the text is not a type.
    pub fn ty(&self, text: &[u8]) -> Option<Type> {
        let mut known = self.known.borrow_mut();
        if let Some(&ty) = known.types.get(text) {
            return ty;
        }
        let ty = known.context.parse_with(&self.definitions, text).ok();
        known.types.insert(text.into(), ty);
        ty
    }

    /// Returns the size of a type of this module: `None` if unsized, at `vscale` 1 if scalable.
    pub fn size_of(&self, ty: Type) -> Option<MemorySize> {
        let mut known = self.known.borrow_mut();
        if let Some(&size) = known.sizes.get(&ty) {
            return size;
        }
        let size = self.layouts(&mut known, |layouts, _| {
            let (store, alloc) = (layouts.store_size(ty).ok()?, layouts.alloc_size(ty).ok()?);
            let scalable = store.scalable;
            Some(MemorySize { store: store.min, alloc: alloc.min, scalable })
        });
        known.sizes.insert(ty, size);
        size
    }

    /// Calls `ask` with the kind (integer, pointer, struct, ...) of a type of this module.
    pub fn with_kind<R>(&self, ty: Type, ask: impl FnOnce(TypeKind<'_>) -> R) -> R {
        ask(self.known.borrow().context.kind(ty))
    }

    /// Returns a type's text, as LLVM assembly writes it.
    pub fn written(&self, ty: Type) -> String {
        self.known.borrow().context.display(ty).to_string()
    }

    /// Returns an array's element type; for another type, the part `index` of [`Context::parts`].
    pub fn part(&self, ty: Type, index: i64) -> Option<Type> {
        let known = self.known.borrow();
        let parts = known.context.parts(ty);
        match known.context.kind(ty) {
            TypeKind::Array { element, .. } => Some(element),
            _ => parts.get(usize::try_from(index).ok()?).copied(),
        }
    }

    /// Returns `ptr` in the same address space for a typed pointer such as `i32*`, else `ty`.
    pub fn opaque(&self, ty: Type) -> Type {
        let mut known = self.known.borrow_mut();
        match known.context.kind(ty) {
            TypeKind::Pointer { address_space, pointee: Some(_) } => {
                known.context.pointer(address_space).unwrap_or(ty)
            }
            _ => ty,
        }
    }

    /// Returns a pointer type's index width in bits. LLVM: `DataLayout::getIndexTypeSizeInBits`.
    pub(crate) fn index_bits(&self, pointer: Type) -> u32 {
        self.with_kind(pointer, |kind| match kind {
            TypeKind::Pointer { address_space, .. } => {
                self.layout.pointer(address_space).index_bits
            }
            _ => 64,
        })
    }

    /// Returns whether a type of this module is a struct, named or literal.
    pub fn is_struct(&self, ty: Type) -> bool {
        self.with_kind(ty, |kind| {
            matches!(kind, TypeKind::Literal { .. } | TypeKind::Identified { .. })
        })
    }

    /// Returns whether a type of this module is a pointer of any address space.
    pub fn is_pointer(&self, ty: Type) -> bool {
        self.with_kind(ty, |kind| matches!(kind, TypeKind::Pointer { .. }))
    }

    /// Computes the offset of a `getelementptr` whose source element type is `ty`. A variable index
    /// is passed as `None`. Returns `None` if a size is unknown or scalable, the offset exceeds 64
    /// bits, a struct's index is variable or has no member, or an index after the first is into
    /// anything but a struct or array. LLVM: `GEPOperator::collectOffset`.
    pub fn steps(&self, ty: Type, indices: impl IntoIterator<Item = Option<i64>>) -> Option<Steps> {
        let mut known = self.known.borrow_mut();
        self.layouts(&mut known, |layouts, context| {
            let mut steps = Steps { bytes: 0, variables: Vec::new() };
            let mut ty = ty;
            for (position, index) in indices.into_iter().enumerate() {
                let mut count = |layouts: &mut Layouts<'_>, element| {
                    let size = layouts.alloc_size(element).ok().filter(|size| !size.scalable)?;
                    let size = i64::try_from(size.min).ok()?;
                    match index {
                        Some(index) => {
                            steps.bytes = steps.bytes.checked_add(index.checked_mul(size)?)?;
                        }
                        None => steps.variables.push((position, size)),
                    }
                    Some(())
                };
                if position == 0 {
                    count(layouts, ty)?;
                    continue;
                }
                ty = match context.kind(ty) {
                    TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                        let at = usize::try_from(index?).ok()?;
                        let start = *layouts.struct_layout(ty).ok()?.offsets.get(at)?;
                        let start = (!start.scalable).then_some(start.min)?;
                        steps.bytes = steps.bytes.checked_add(i64::try_from(start).ok()?)?;
                        *context.parts(ty).get(at)?
                    }
                    TypeKind::Array { element, .. } => {
                        count(layouts, element)?;
                        element
                    }
                    _ => return None,
                };
            }
            Some(steps)
        })
    }

    /// Calls `measure` with the layout computation. `known.measures` is its cache.
    fn layouts<R>(
        &self,
        known: &mut Known,
        measure: impl FnOnce(&mut Layouts<'_>, &Context) -> R,
    ) -> R {
        let before = std::mem::take(&mut known.measures);
        let mut layouts = self.layout.layouts_after(&known.context, before);
        let found = measure(&mut layouts, &known.context);
        known.measures = layouts.into_measures();
        found
    }
}
