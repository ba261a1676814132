//! How many bytes the types have that a module's text names.

use std::cell::RefCell;

use super::body::Element;
use super::module::Module;
use super::types::{Definitions, ReadTypes};
use tbaa::parts::table::HashMap;
use tbaa_types::{Context, DataLayout, Measures, TypeKind};

/// The sizes of a module's types, by its data layout.
///
/// Each text of a type is read and measured once.
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
    sizes: HashMap<Box<[u8]>, Option<MemorySize>>,
}

/// How many bytes a type has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct MemorySize {
    /// Bytes that a store may write: 10 for `x86_fp80`.
    ///
    /// LLVM: `DataLayout::getTypeStoreSize`.
    pub store: u64,
    /// Bytes from one element of an array to the next: 16 for `x86_fp80` on
    /// x86-64.
    ///
    /// LLVM: `DataLayout::getTypeAllocSize`.
    pub alloc: u64,
    /// Whether the machine multiplies both by a number of its own, `vscale`.
    pub scalable: bool,
}

impl Sizes {
    /// Reads the data layout and the struct types of a module.
    ///
    /// LLVM's default layout is used where the module has none, or one that LLVM
    /// 22 rejects. Named structs have no size where their definitions cannot be
    /// read.
    #[must_use]
    pub fn new(module: &Module<'_>) -> Self {
        let mut known = Known::default();
        let definitions = module.read_types(&mut known.context).unwrap_or_default();
        let layout = module.data_layout().and_then(|(it, _)| str::from_utf8(it).ok()?.parse().ok());
        let (has_layout, layout) = (layout.is_some(), layout.unwrap_or_default());
        Sizes { definitions, layout, has_layout, known: RefCell::new(known) }
    }

    /// Returns whether the module has a data layout that LLVM 22 accepts. Without
    /// one the bytes of pointers are a guess.
    #[must_use]
    pub fn has_layout(&self) -> bool {
        self.has_layout
    }

    /// Returns the size of a type such as `i32` or `%struct.S`; `None` if it has
    /// none, or if only the machine knows it.
    #[must_use]
    pub fn of(&self, ty: &[u8]) -> Option<MemorySize> {
        self.minimum(ty).filter(|size| !size.scalable)
    }

    /// As [`of`](Self::of), and for scalable vectors what they have at least.
    #[must_use]
    pub fn minimum(&self, ty: &[u8]) -> Option<MemorySize> {
        let mut known = self.known.borrow_mut();
        if let Some(&size) = known.sizes.get(ty) {
            return size;
        }
        let size = self.measure(&mut known, ty);
        known.sizes.insert(ty.into(), size);
        size
    }

    /// Returns the bytes from its base that a `getelementptr` steps by, if its indices are
    /// constants; a size that only the machine knows counts as no constant.
    ///
    /// LLVM: `GEPOperator::accumulateConstantOffset`.
    #[doc(hidden)]
    #[must_use]
    pub fn step(&self, element: &Element<'_>) -> Option<i64> {
        let mut indices =
            element.indices().map(|index| str::from_utf8(index.value).ok()?.parse().ok());
        let first: i64 = indices.next()??;
        let mut offset = first.checked_mul(i64::try_from(self.of(element.ty)?.alloc).ok()?)?;
        let mut indices = indices.peekable();
        if indices.peek().is_none() {
            return Some(offset);
        }
        let mut known = self.known.borrow_mut();
        let known = &mut *known;
        let mut ty = known.context.parse_with(&self.definitions, element.ty).ok()?;
        let before = std::mem::take(&mut known.measures);
        let mut layouts = self.layout.layouts_after(&known.context, before);
        let mut follow = |index: i64| {
            let (next, bytes) = match known.context.kind(ty) {
                TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                    let at = usize::try_from(index).ok()?;
                    let start = *layouts.struct_layout(ty).ok()?.offsets.get(at)?;
                    (*known.context.parts(ty).get(at)?, (!start.scalable).then_some(start.min)?)
                }
                TypeKind::Array { element, .. } => {
                    let size = layouts.alloc_size(element).ok().filter(|it| !it.scalable)?.min;
                    (element, index.checked_mul(i64::try_from(size).ok()?)?.try_into().ok()?)
                }
                _ => return None,
            };
            ty = next;
            offset = offset.checked_add(i64::try_from(bytes).ok()?)?;
            Some(())
        };
        let all = indices.try_for_each(|index| follow(index?));
        known.measures = layouts.into_measures();
        all.map(|()| offset)
    }

    fn measure(&self, known: &mut Known, ty: &[u8]) -> Option<MemorySize> {
        let ty = known.context.parse_with(&self.definitions, ty).ok()?;
        let before = std::mem::take(&mut known.measures);
        let mut layouts = self.layout.layouts_after(&known.context, before);
        let size = layouts.store_size(ty).and_then(|store| Ok((store, layouts.alloc_size(ty)?)));
        known.measures = layouts.into_measures();
        let (store, alloc) = size.ok()?;
        Some(MemorySize { store: store.min, alloc: alloc.min, scalable: store.scalable })
    }
}
