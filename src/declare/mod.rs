//! Declaring a program's types, so that no offset is written by hand.
//!
//! [`Declarations`] hold C-like types, laid out as a C compiler does for a
//! [`Target`]: scalars, pointers, arrays, vectors, structs and unions with
//! anonymous members and bit-fields. [`Declarations::into_tagged`] puts them under a
//! [`Policy`], and [`TaggedTypes::tag`] gives the tag of an access from a path.
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
/// Declares a Rust type as the C type of the same layout: sizes, alignments and offsets are the Rust
/// compiler's own. The guide "A runtime in Rust" says what each type is declared as.
///
/// # Attributes
///
/// On a type:
///
/// - `#[tbaa(name = "lua_TValue")]`: the name in the metadata. In the name of a generic type, `{T}`
///   is replaced by the name of its parameter `T`.
/// - `#[tbaa(parent = "int")]` on a `transparent` struct or an enum: a scalar of its own, below
///   another one: a C type, or a Rust type as in `parent = Handle`.
/// - `#[tbaa(char)]`: accesses to it may alias everything.
///
/// On a member:
///
/// - `#[tbaa(name = "tt_")]`: the name in paths.
/// - `#[tbaa(ty = "long long")]`: the C type, of the same size.
/// - `#[tbaa(char)]`: bytes, accesses to which may alias everything, whatever the Rust type: a
///   struct `char_8` for 8 bytes. With `ty = "char"` an access is still to a member of this type,
///   and to no other object.
/// - `#[tbaa(immutable)]`: never modified while it can be read.
/// - `#[tbaa(skip)]`: padding. Copies of the whole may lose its bytes, and no tagged access may
///   reach them; otherwise write `char`.
///
/// # Errors
///
/// A layout that Rust does not fix is an error of compilation:
///
/// ```compile_fail
/// # use tbaa::declare::Tbaa;
/// #[derive(Tbaa)] // error: write `#[repr(C)]` before it
/// struct Node {
///     key: u32,
/// }
/// ```
///
/// So are a `repr(C)` enum with data and a member of a type that has no declaration, such as `Vec`
/// without `#[tbaa(char)]`:
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
/// A path is a type and steps: `.member`, `->member` after a pointer, `[3]`, `[*]` or `[i]` for
/// elements of arrays and of pointers' targets. Members have the names that the derive declares.
/// Members marked `char` or `ty`, those without bytes, and all steps after them are only checked
/// when the path is resolved.
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
/// Nor does an index past the end:
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
