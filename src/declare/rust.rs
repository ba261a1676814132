//! Declares Rust types as C types with the same layout.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};
use std::panic::Location;
use std::sync::atomic;

use super::{DeclId, Declarations, DeclareError, Place, Record, RecordKind, TaggedTypes};
use crate::graph::Graph;

/// A Rust type that can be declared as a C type with the same layout.
///
/// Numbers, raw pointers, references, arrays and transparent wrappers of `std` implement it. An
/// implementation for a `#[repr(C)]` struct or union gives the offset of each member, as below.
///
/// The target must be that of the Rust program: another size or alignment of a type is an error.
///
/// ```
/// use std::mem::{align_of, offset_of, size_of};
/// use tbaa::declare::{
///     DeclId, DeclareError, Declarations, Member, Record, RecordKind, Target, Tbaa,
/// };
///
/// #[repr(C)]
/// struct Node {
///     next: *mut Node,
///     key: u32,
/// }
///
/// impl Tbaa for Node {
///     fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
///         types.declare_once::<Self>("Node", RecordKind::Struct, |types| {
///             Ok(Record::structure("Node")
///                 .size(size_of::<Self>() as u64)
///                 .align(align_of::<Self>() as u64)
///                 .member(
///                     Member::new("next", <*mut Node>::declare(types)?)
///                         .at(offset_of!(Self, next) as u64),
///                 )
///                 .member(
///                     Member::new("key", u32::declare(types)?).at(offset_of!(Self, key) as u64),
///                 ))
///         })
///     }
/// }
///
/// if let Some(target) = Target::host() {
///     let mut types = Declarations::new(target);
///     Node::declare(&mut types)?;
///     assert_eq!(types.offset_of("Node.key")?, size_of::<usize>() as u64);
/// }
/// # Ok::<(), DeclareError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no declaration as a C type",
    label = "not a type that C knows",
    note = "write `#[derive(Tbaa)]` before a type of your own; before a field of another, \
            `#[tbaa(char)]` makes bytes of it that alias everything"
)]
pub trait Tbaa {
    /// Declares the type if necessary, and returns it.
    ///
    /// # Errors
    ///
    /// The same as for [`Declarations::define`].
    fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError>;
}

impl Declarations {
    /// Declares the Rust type `T` as a record called `name`, unless it is declared already.
    /// `record` returns the record with its members. A record that a member points to may contain
    /// `T`. So that record is only forward-declared at first, and declared after `T`.
    ///
    /// # Errors
    ///
    /// Those of [`Declarations::define`]; [`DeclareError::Redefined`] if another type has the name.
    /// If a type that a member points to cannot be declared, returns that type's error. A later
    /// call tries again.
    #[track_caller]
    pub fn declare_once<T: ?Sized>(
        &mut self,
        name: &str,
        kind: RecordKind,
        record: impl FnOnce(&mut Declarations) -> Result<Record, DeclareError>,
    ) -> Result<DeclId, DeclareError> {
        // The key is a name, because `std::any::TypeId::of` does not accept types with lifetimes.
        let key = (std::any::type_name::<T>(), Location::caller());
        let named_only = self.pointees.named_only.take() == Some(key.0);
        let outermost = !std::mem::replace(&mut self.pointees.waiting, true);
        let declare = |types: &mut Declarations| {
            if let Some(&known) = types.rust_types.get(&key) {
                return Ok(known);
            }
            let is_rust = |id| types.rust_types.values().any(|&value| value == id);
            let id = match types.named(name) {
                // No Rust type has this record yet. `define` completes or compares the record.
                Some(id) if types.is_record(id) && !is_rust(id) => id,
                Some(first) => {
                    return Err(DeclareError::Redefined { name: name.to_owned(), first });
                }
                None => types.forward(name, kind == RecordKind::Union)?,
            };
            if named_only {
                return Ok(id);
            }
            types.rust_types.insert(key, id);
            let defined = record(types).and_then(|record| types.define(record));
            if defined.is_err() {
                // The next call tries again.
                types.rust_types.remove(&key);
            }
            defined
        };
        let mut declared = declare(self);
        if outermost {
            while declared.is_ok()
                && let Some(declare) = self.pointees.queue.pop()
            {
                if let Err(error) = declare(self) {
                    // The next call tries again.
                    self.pointees.queue.push(declare);
                    declared = Err(error);
                }
            }
            self.pointees.waiting = false;
        }
        declared
    }

    /// Declares the type `T` that a pointer points to. While a record is being declared, a struct
    /// or union `T` is only forward-declared. It waits in the queue until that record is declared.
    fn declare_pointee<T: Tbaa>(&mut self) -> Result<DeclId, DeclareError> {
        if !self.pointees.waiting {
            return T::declare(self);
        }
        self.pointees.named_only = Some(std::any::type_name::<T>());
        let to = T::declare(self);
        self.pointees.named_only = None;
        self.pointees.queue.push(T::declare);
        to
    }
}

/// Returns `id`, or an error if the size or alignment of `id` differs from that of `T`.
fn as_in_rust<T>(types: &Declarations, id: DeclId) -> Result<DeclId, DeclareError> {
    let (size, align) = (size_of::<T>() as u64, align_of::<T>() as u64);
    match types.size_of(id) {
        Some(of_target) if (of_target, types.align_of(id)) != (size, align) => {
            Err(DeclareError::Size {
                place: std::any::type_name::<T>().to_owned(),
                size,
                reason: format!(
                    "aligned to {align}, but on the target {of_target}, aligned to {}: declare \
                     for the target that the program is compiled for",
                    types.align_of(id)
                ),
            })
        }
        _ => Ok(id),
    }
}

macro_rules! like_c {
    ($($ty:ty = $name:literal,)*) => {$(
        impl Tbaa for $ty {
            fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
                let id = types.ty($name)?;
                as_in_rust::<$ty>(types, id)
            }
        }
    )*};
}

like_c! {
    () = "char [0]",
    bool = "_Bool",
    i8 = "int8_t",
    u8 = "uint8_t",
    i16 = "int16_t",
    u16 = "uint16_t",
    i32 = "int32_t",
    u32 = "uint32_t",
    i64 = "int64_t",
    u64 = "uint64_t",
    i128 = "__int128",
    u128 = "__int128",
    isize = "intptr_t",
    usize = "uintptr_t",
    f32 = "float",
    f64 = "double",
    char = "uint32_t",
    std::ffi::c_void = "void",
    atomic::AtomicBool = "_Bool",
    atomic::AtomicI8 = "int8_t",
    atomic::AtomicU8 = "uint8_t",
    atomic::AtomicI16 = "int16_t",
    atomic::AtomicU16 = "uint16_t",
    atomic::AtomicI32 = "int32_t",
    atomic::AtomicU32 = "uint32_t",
    atomic::AtomicIsize = "intptr_t",
    atomic::AtomicUsize = "uintptr_t",
}

/// Declaring these types fails where C aligns `int64_t` to 4 bytes, as on 32-bit x86 Linux.
#[cfg(target_has_atomic = "64")]
mod wide {
    use super::{DeclId, Declarations, DeclareError, Tbaa, as_in_rust, atomic};

    like_c! {
        atomic::AtomicI64 = "int64_t",
        atomic::AtomicU64 = "uint64_t",
    }
}

/// Calls a macro with the Rust types that are a pointer to a `T`.
macro_rules! with_pointers {
    ($each:ident) => {
        $each! {
            *const T,
            *mut T,
            &T,
            &mut T,
            Option<&T>,
            Option<&mut T>,
            std::ptr::NonNull<T>,
            Option<std::ptr::NonNull<T>>,
            Box<T>,
            Option<Box<T>>,
            std::sync::atomic::AtomicPtr<T>,
        }
    };
}
#[cfg(feature = "derive")]
pub(super) use with_pointers;

macro_rules! pointers {
    ($($ty:ty,)*) => {$(
        impl<T: Tbaa> Tbaa for $ty {
            fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
                let to = types.declare_pointee::<T>()?;
                let id = types.pointer_to(to)?;
                as_in_rust::<Self>(types, id)
            }
        }
    )*};
}

with_pointers! { pointers }

macro_rules! functions {
    ($($parameter:ident)*) => {
        functions! { @each extern "C" fn($($parameter),*) -> R, $($parameter)* }
        functions! { @each unsafe extern "C" fn($($parameter),*) -> R, $($parameter)* }
        functions! { @each Option<extern "C" fn($($parameter),*) -> R>, $($parameter)* }
        functions! { @each Option<unsafe extern "C" fn($($parameter),*) -> R>, $($parameter)* }
    };
    (@each $ty:ty, $($parameter:ident)*) => {
        impl<R, $($parameter),*> Tbaa for $ty {
            fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
                types.ty("void (*)()")
            }
        }
    };
}

functions! {}
functions! { A }
functions! { A B }
functions! { A B C }
functions! { A B C D }
functions! { A B C D E }
functions! { A B C D E F }

macro_rules! transparent {
    ($($ty:ty,)*) => {$(
        impl<T: Tbaa> Tbaa for $ty {
            fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
                T::declare(types)
            }
        }
    )*};
}

transparent! {
    Cell<T>,
    UnsafeCell<T>,
    ManuallyDrop<T>,
    MaybeUninit<T>,
    std::num::Wrapping<T>,
}

impl<T: Tbaa, const N: usize> Tbaa for [T; N] {
    fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
        let element = T::declare(types)?;
        types.array_of(element, Some(N as u64))
    }
}

impl<T: ?Sized> Tbaa for PhantomData<T> {
    fn declare(types: &mut Declarations) -> Result<DeclId, DeclareError> {
        types.ty("char [0]")
    }
}

/// A path from a Rust type `B` to a member. The Rust compiler checks that the member has type `F`.
///
/// ```
/// use tbaa::declare::TypedPath;
///
/// struct Point {
///     x: f32,
/// }
/// const X: TypedPath<Point, f32> = TypedPath::new(".x", |point| &point.x);
/// # let _ = X;
/// ```
pub struct TypedPath<B, F> {
    steps: &'static str,
    marker: PhantomData<fn(B) -> F>,
}

impl<B, F> TypedPath<B, F> {
    /// Returns a path with the steps `steps`, such as `".l.base"`. `member` must access the same
    /// member: it makes the Rust compiler check that this member exists and has the type `F`.
    #[must_use]
    pub const fn new(steps: &'static str, member: for<'b> fn(&'b B) -> &'b F) -> Self {
        let _ = member;
        TypedPath { steps, marker: PhantomData }
    }

    /// Returns the steps after the type: `".l.base"`.
    pub fn steps(self) -> &'static str {
        self.steps
    }
}

impl<B, F> Clone for TypedPath<B, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, F> Copy for TypedPath<B, F> {}

/// A [`Place`] whose path starts at the Rust type `B` and ends at an `F`. A code generator resolves
/// a path once, and uses the handle for all accesses to that path.
pub struct Handle<B, F> {
    place: Place,
    marker: PhantomData<fn(B) -> F>,
}

impl<B, F> Clone for Handle<B, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, F> Copy for Handle<B, F> {}

impl<B, F> Handle<B, F> {
    /// Returns the resolved path.
    pub fn place(self) -> Place {
        self.place
    }
}

impl Declarations {
    /// Returns a path of Rust types as text, for functions such as `tbaa_lower::emit::Jit::place`.
    /// Declares the types if necessary.
    ///
    /// # Errors
    ///
    /// The same as for [`Tbaa::declare`].
    pub fn path<B: Tbaa, F>(&mut self, path: TypedPath<B, F>) -> Result<String, DeclareError> {
        let base = B::declare(self)?;
        Ok(format!("{}{}", self.display(base), path.steps))
    }
}

impl TaggedTypes {
    /// Resolves a path of Rust types. Declares the types if necessary.
    ///
    /// # Errors
    ///
    /// Those of [`TaggedTypes::place`] and [`Tbaa::declare`].
    pub fn handle<B: Tbaa, F>(
        &mut self,
        graph: &mut Graph,
        path: TypedPath<B, F>,
    ) -> Result<Handle<B, F>, DeclareError> {
        let path = self.types_mut().path(path)?;
        let place = self.place(graph, &path)?;
        Ok(Handle { place, marker: PhantomData })
    }
}
