//! Declaring a program's types, so that nobody writes an offset.
//!
//! [`Declarations`] hold C-like types, laid out as a C compiler does for a
//! [`Target`]: scalars, pointers, arrays, vectors, structs and unions with
//! anonymous members and bit-fields. [`Declarations::into_tagged`] puts them under a
//! [`Policy`], and [`TaggedTypes::tag`] gives the tag of an access from a path.
//!
//! ```
//! use tbaa::declare::{Declarations, Policy, Record, Target};
//! use tbaa::{AliasResult, Graph, Oracle, Rules};
//!
//! let mut types = Declarations::new(Target::x86_64());
//! types.define(
//!     Record::structure("TValue")
//!         .field("value", Record::union("Value").field("gc", "void *").field("n", "double"))
//!         .field("tt", "unsigned short"),
//! )?;
//! types.define(Record::structure("Table").field("size", "int").field("array", "TValue *"))?;
//!
//! let mut graph = Graph::new();
//! let mut types = types.into_tagged(Policy::Rfc);
//! let number = types.tag(&mut graph, "Table.array[*].value.n")?;
//! let type_tag = types.tag(&mut graph, "TValue.tt")?;
//! let pointer = types.tag(&mut graph, "TValue.value.gc")?;
//!
//! let oracle = Oracle::new(&graph, Rules::Union);
//! assert_eq!(oracle.alias(number, type_tag), AliasResult::NoAlias);
//! assert_eq!(oracle.alias(number, pointer), AliasResult::MayAlias);
//! # Ok::<(), tbaa::declare::DeclareError>(())
//! ```

mod builtin;
mod declarations;
mod define;
#[cfg(feature = "derive")]
#[doc(hidden)]
pub mod derive_support;
mod derived;
mod error;
mod expr;
mod id;
mod import;
mod layout;
mod llvm;
mod path;
mod read;
mod record;
mod rust;
mod tagged;
mod target;

pub use declarations::Declarations;
pub use error::DeclareError;
pub use id::DeclId;
pub use import::{ClangAccesses, ClangDifference, ClangRecords};
pub use llvm::LlvmTypes;
pub use read::MemberLayout;
pub use record::{Member, MemberType, Record};
pub use rust::{Handle, Tbaa, TypedPath};
pub use tagged::{Place, Policy, TaggedTypes};
pub use target::Target;
#[cfg(feature = "derive")]
pub use tbaa_derive::{Tbaa, path};
