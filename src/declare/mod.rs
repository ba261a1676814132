//! Declares a program's types, so that no offset has to be written by hand.
//!
//! [`Declarations`] hold C-like types with the layout that a C compiler chooses for a [`Target`].
//! [`Declarations::into_tagged`] chooses a [`Policy`] for the metadata of these types.
//! [`TaggedTypes::tag`] returns the tag for an access to a path, such as `Table.size`.
//!
//! ```
//! use tbaa::declare::{Declarations, Policy, Record, Target};
//! use tbaa::{AliasResult, Graph, Oracle, AliasRule};
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
//! let oracle = Oracle::new(&graph, AliasRule::Union);
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
mod import;
mod layout;
mod llvm;
mod path;
mod read;
mod record;
mod rust;
mod tagged;
mod target;

pub use declarations::{DeclId, DeclKind, Declarations, ScalarLayout};
pub use error::DeclareError;
pub use llvm::LlvmTypes;
pub use read::MemberLayout;
pub use record::{Member, MemberType, Record, RecordKind};
pub use rust::{Handle, Tbaa, TypedPath};
pub use tagged::{BitRange, Place, Policy, TaggedTypes};
pub use target::Target;
/// Declares a Rust type as a C type with the same layout. Sizes, alignments and offsets are those
/// of the Rust compiler. The guide "A runtime in Rust" lists the C types of Rust types.
///
/// # Attributes
///
/// On a type:
///
/// - `#[tbaa(name = "lua_TValue")]`: the name in the metadata. In a generic type's name, `{T}`
///   stands for the name of the type that is the argument for `T`.
/// - `#[tbaa(parent = "int")]` on a `transparent` struct or an enum: a new scalar type, whose
///   parent is a C type, or a Rust type as in `parent = Handle`.
/// - `#[tbaa(char)]`: accesses to the type may alias everything.
///
/// On a member:
///
/// - `#[tbaa(name = "tt_")]`: the name in paths.
/// - `#[tbaa(ty = "long long")]`: the C type, which must have the same size.
/// - `#[tbaa(char)]`: bytes that any access may alias, whatever the Rust type is. For 8 bytes, the
///   C type is a struct `char_8`. With `ty = "char"` instead, LLVM treats an access to the member
///   as an access to the struct that contains the member.
/// - `#[tbaa(immutable)]`: the member is never modified while it can be read.
/// - `#[tbaa(skip)]`: the member becomes padding. A copy of the struct may lose the padding's
///   bytes, and no tagged access may touch them. To keep the bytes, write `#[tbaa(char)]`.
///
/// # Errors
///
/// If Rust does not guarantee a type's layout, the program does not compile:
///
/// ```compile_fail
/// # use tbaa::declare::Tbaa;
/// #[derive(Tbaa)] // error: write `#[repr(C)]` before it
/// struct Node {
///     key: u32,
/// }
/// ```
///
/// A `repr(C)` enum with data does not compile either. A member whose type does not implement
/// `Tbaa`, such as `Vec`, needs an attribute such as `#[tbaa(char)]`. This does not compile:
///
/// ```compile_fail
/// # use tbaa::declare::Tbaa;
/// #[derive(Tbaa)]
/// #[repr(C)]
/// struct Node {
///     keys: Vec<u32>,
/// }
/// ```
#[cfg(feature = "derive")]
pub use tbaa_derive::Tbaa;
/// Makes a path from a type and steps: `.member`, `->member` after a pointer, and `[3]`, `[*]` or
/// `[i]` for elements of an array or of a pointer's target. Members have the names that the derive
/// declares. If a member on the path has size 0 or the attribute `char` or `ty`, the path can
/// compile and yet be refused when it is resolved.
///
/// ```
/// use tbaa::declare::{Tbaa, TypedPath, path};
///
/// #[derive(Tbaa)]
/// #[repr(C)]
/// struct Frame {
///     slots: [f64; 4],
///     up: *mut Frame,
/// }
///
/// const SLOT: TypedPath<Frame, f64> = path!(Frame.up->slots[i]);
/// assert_eq!(SLOT.steps(), ".up->slots[*]");
/// ```
///
/// A wrong member does not compile:
///
/// ```compile_fail
/// # use tbaa::declare::{Tbaa, TypedPath, path};
/// # #[derive(Tbaa)]
/// # #[repr(C)]
/// # struct Frame { slots: [f64; 4], up: *mut Frame }
/// let _ = path!(Frame.slot[1]);
/// ```
///
/// An index past the end does not compile either:
///
/// ```compile_fail
/// # use tbaa::declare::{Tbaa, TypedPath, path};
/// # #[derive(Tbaa)]
/// # #[repr(C)]
/// # struct Frame { slots: [f64; 4], up: *mut Frame }
/// let _ = path!(Frame.slots[4]);
/// ```
#[cfg(feature = "derive")]
pub use tbaa_derive::path;
