//! LLVM's types: their text, their layouts as in LLVM 22, their equality; and declarations.

mod context;
mod declare;
mod equal;
mod layouts;

use tbaa::types::{Context, DataLayout, Equality, LayoutError, Type, TypeSize};
use tbaa_ir::types::ReadTypes;

const EQUALITIES: [Equality; 2] = [Equality::Structural, Equality::Unfolding];

fn defined(text: &str) -> Context {
    let mut context = Context::new();
    context.read_definitions(text.as_bytes()).unwrap();
    context
}

fn definitions(context: &Context) -> String {
    let mut text = String::new();
    context.write_definitions(&mut text).unwrap();
    text
}

fn size(context: &Context, ty: Type) -> Result<TypeSize, LayoutError> {
    DataLayout::default().layouts(context).alloc_size(ty)
}
