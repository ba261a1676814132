//! LLVM's types: a uniquing context, and data layouts.
//!
//! A [`Context`] stores types like an `LLVMContext`. All types except identified structs are
//! uniqued: two of them are the same type exactly if their ids are equal. An identified struct such
//! as `%struct.Point` differs from all other types. It is opaque until it gets a body. Only
//! identified structs can be recursive. [`Context::display`] writes LLVM assembly, including typed
//! pointers as in older LLVMs. `tbaa_ir::types` reads this text.
//!
//! A [`DataLayout`] determines the sizes of types and the offsets of a struct's elements as LLVM 22
//! does. With the feature `equal`, `TypeClasses` compares types of one or several contexts, and
//! `MergedTypes` merges several contexts into one.
//!
//! ```
//! use tbaa_types::{Context, DataLayout, Packing, TypeSize};
//!
//! let mut context = Context::new();
//! let pointer = context.pointer(0)?;
//! let elements = [pointer, pointer, context.int(64)?, context.int(16)?, context.int(8)?];
//! let call_info = context.named_struct(b"struct.CallInfo")?;
//! context.set_body(call_info, &elements, Packing::Padded)?;
//!
//! let layout: DataLayout = "e-p:32:32-i64:64".parse().unwrap();
//! let layout = layout.layouts(&context).struct_layout(call_info).unwrap();
//! assert_eq!(layout.offsets, [0, 4, 8, 16, 18].map(TypeSize::fixed));
//! assert_eq!(layout.size, TypeSize::fixed(24));
//! # Ok::<(), tbaa_types::TypeError>(())
//! ```

#![forbid(unsafe_code)]

mod context;
#[doc(hidden)]
pub mod demangle;
#[cfg(feature = "equal")]
mod equal;
mod id;
mod kind;
mod layout;
#[cfg(feature = "equal")]
mod merge;
mod print;
mod store;
mod table;

pub use context::Context;
#[cfg(feature = "equal")]
pub use equal::{Encoding, Equality, MAX_ENCODING, TypeClasses, canonical_name};
pub use id::Type;
pub use kind::{
    ADDRESS_SPACES, ElementCount, MAX_INT_BITS, Packing, Primitive, TypeError, TypeKind,
};
#[doc(hidden)]
pub use layout::Measures;
pub use layout::{
    DataLayout, DataLayoutError, FunctionPointerAlign, LayoutError, Layouts, Mangling, PointerSpec,
    PrimitiveSpec, StructLayout, TypeSize,
};
#[cfg(feature = "equal")]
pub use merge::{MergedTypes, TypeClash};
pub use print::Display;
