//! The sizes of the types that a module's text names.

use tbaa_ir::Module;
use tbaa_types::table::HashMap;
use tbaa_types::{Context, DataLayout, Definitions};

pub(super) struct Sizes {
    context: Context,
    definitions: Definitions,
    layout: DataLayout,
    known: HashMap<Box<[u8]>, Option<Size>>,
}

/// In bytes.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// What a load or store touches.
    pub(super) store: u64,
    /// What one element of an array takes.
    pub(super) alloc: u64,
}

impl Sizes {
    /// Without a usable data layout or struct types, LLVM's defaults stand for
    /// them, and no struct has a size.
    pub(super) fn new(text: &[u8], module: &Module) -> Self {
        let mut context = Context::new();
        let definitions = module.read_types(text, &mut context).unwrap_or_default();
        let layout = module.data_layout().and_then(|(it, _)| str::from_utf8(it).ok());
        let layout = layout.and_then(|it| it.parse().ok()).unwrap_or_default();
        Sizes { context, definitions, layout, known: HashMap::default() }
    }

    /// `None` for what has no size that is known at compile time.
    pub(super) fn of(&mut self, ty: &[u8]) -> Option<Size> {
        if let Some(&size) = self.known.get(ty) {
            return size;
        }
        let size = self.measure(ty);
        self.known.insert(ty.into(), size);
        size
    }

    fn measure(&mut self, ty: &[u8]) -> Option<Size> {
        let ty = self.context.parse_with(&self.definitions, ty).ok()?;
        let mut layouts = self.layout.layouts(&self.context);
        let (store, alloc) = (layouts.store_size(ty).ok()?, layouts.alloc_size(ty).ok()?);
        let fixed = !store.scalable && !alloc.scalable;
        fixed.then_some(Size { store: store.min, alloc: alloc.min })
    }
}
