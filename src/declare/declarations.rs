//! The declared types of a program, and their ids.

use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{Result, invalid};
use super::{DeclareError, Target};
use crate::graph::CLANG_ROOTS;
use crate::nearest::nearest;
use crate::table::{HashMap, IndexMap};
use tbaa_types::Primitive;

/// The limit of a type's size in bytes, so that sizes in bits and sums of sizes do not overflow.
pub(super) const LIMIT: u64 = 1 << 56;

/// The size in bytes of a [region](Declarations::region) of bytes: more than any memory has.
const REGION: u64 = 1 << 48;

/// The id of a type in [`Declarations`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DeclId {
    pub(super) index: u32,
    pub(super) stamp: u32,
}

impl DeclId {
    /// Returns the index of the type in [`Declarations::types`].
    pub fn index(self) -> usize {
        self.index as usize
    }
}

/// The kind of a declared type, with the types that it consists of.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum DeclKind {
    Void,
    Function,
    Scalar {
        name: String,
        /// The parent; `None` if the parent is the root.
        parent: Option<DeclId>,
        float: Option<Primitive>,
    },
    Pointer {
        to: DeclId,
    },
    Array {
        element: DeclId,
        /// The length; `None` for a flexible array member.
        len: Option<u64>,
    },
    Vector {
        element: DeclId,
        len: u64,
    },
    Complex {
        element: DeclId,
    },
    Atomic {
        of: DeclId,
    },
    Enum {
        name: String,
        integer: DeclId,
    },
    Record(Box<RecordDecl>),
}

#[doc(hidden)]
#[derive(Clone, Default, Debug)]
pub struct RecordDecl {
    /// The name; empty for an unnamed record.
    pub(super) name: String,
    /// The name; for an unnamed record, its place in another record: `CallInfo.l`.
    pub(super) title: String,
    pub(super) union: bool,
    pub(super) defined: bool,
    pub(super) may_alias: bool,
    /// True if the last member is a flexible array, or a record with this flag.
    pub(super) flexible: bool,
    /// True if objects of the record have no fixed size.
    pub(super) endless: bool,
    /// True if the record could be declared in C: there is no base class in it.
    pub(super) plain: bool,
    pub(super) packed: bool,
    /// The end in bits of the member that ends last. Members of a derived class may begin there.
    pub(super) used: u64,
    pub(super) fields: Vec<FieldDecl>,
    /// The field indices that lead to each named member, also to those inside anonymous members.
    pub(super) names: IndexMap<String, Vec<u32>>,
}

impl RecordDecl {
    pub(super) fn keyword(&self) -> &'static str {
        if self.union { "union" } else { "struct" }
    }
}

#[derive(Clone, Debug)]
pub(super) struct FieldDecl {
    /// The name; empty if the member has none.
    pub(super) name: String,
    pub(super) ty: DeclId,
    /// The offset in bits from the start of the record.
    pub(super) offset: u64,
    pub(super) bits: Option<u32>,
    pub(super) immutable: bool,
    pub(super) base: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Decl {
    pub(super) kind: DeclKind,
    /// The size in bytes; `None` for `void`, a function, or an undefined record.
    pub(super) size: Option<u64>,
    pub(super) align: u64,
    /// The alignment that packing does not reduce; 1 if packing can remove all alignment.
    pub(super) required: u64,
}

impl Decl {
    pub(super) fn new(kind: DeclKind, size: impl Into<Option<u64>>, align: u64) -> Decl {
        Decl { kind, size: size.into(), align, required: 1 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Derived {
    Pointer,
    Array(Option<u64>),
    Vector(u64),
    Complex,
    Atomic,
}

/// The types of a program or runtime, with their layouts for a [`Target`].
///
/// The predefined types of C or C++ are declared from the start. A declared type does not change,
/// but a forward-declared struct or union can get its members later.
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(
///     Record::structure("Node").field("next", "struct Node *").field("key", "int"),
/// )?;
/// assert_eq!(types.offset_of("Node.key")?, 8);
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Declarations {
    pub(super) target: Target,
    pub(super) cplusplus: bool,
    pub(super) root: String,
    pub(super) decls: Vec<Decl>,
    pub(super) names: IndexMap<String, DeclId>,
    pub(super) derived: HashMap<(Derived, DeclId), DeclId>,
    /// The declared types of Rust types, by the Rust type's name and the place of its `derive`.
    pub(super) rust_types: HashMap<(&'static str, &'static Location<'static>), DeclId>,
    pub(super) pointees: Pointees,
    /// The number of predefined types, which come first in `decls`.
    pub(super) builtins: usize,
    /// The number of names of predefined types, which come first in `names`.
    pub(super) builtin_names: usize,
    stamp: u32,
}

/// The function `Tbaa::declare` of a Rust type.
pub(super) type Declare = fn(&mut Declarations) -> Result<DeclId, DeclareError>;

/// The Rust types that a record points to. They are declared after the record.
#[derive(Clone, Debug, Default)]
pub(super) struct Pointees {
    /// True while a record is being declared. The types in `queue` are declared after the record.
    pub(super) waiting: bool,
    /// The Rust type that the next call of `declare_once` must only forward-declare.
    pub(super) named_only: Option<&'static str>,
    pub(super) queue: Vec<Declare>,
}

/// The size and alignment of a scalar, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScalarLayout {
    /// The size.
    pub size: u64,
    /// The alignment.
    pub align: u64,
}

impl ScalarLayout {
    /// Returns the size and alignment of a Rust type.
    pub fn of<T>() -> ScalarLayout {
        ScalarLayout { size: size_of::<T>() as u64, align: align_of::<T>() as u64 }
    }
}

impl Declarations {
    /// Returns C's predefined types for a target, under clang's root `"Simple C/C++ TBAA"`.
    pub fn new(target: Target) -> Self {
        Self::with_language(target, false)
    }

    /// Returns C++'s predefined types for a target, under clang's root for C++.
    pub fn cplusplus(target: Target) -> Self {
        Self::with_language(target, true)
    }

    /// Sets the name of the root. Types under different roots may alias.
    pub fn with_root(mut self, name: impl Into<String>) -> Self {
        self.root = name.into();
        self
    }

    fn with_language(target: Target, cplusplus: bool) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let root = CLANG_ROOTS[usize::from(cplusplus)];
        let mut types = Declarations {
            target,
            cplusplus,
            root: root.to_owned(),
            decls: Vec::new(),
            names: IndexMap::default(),
            derived: HashMap::default(),
            rust_types: HashMap::default(),
            pointees: Pointees::default(),
            builtins: 0,
            builtin_names: 0,
            stamp: NEXT.fetch_add(1, Ordering::Relaxed),
        };
        types.add_builtins();
        (types.builtins, types.builtin_names) = (types.decls.len(), types.names.len());
        types
    }

    /// Returns whether these declarations issued `id`.
    pub fn owns(&self, id: DeclId) -> bool {
        id.stamp == self.stamp && id.index() < self.decls.len()
    }

    pub(super) fn check(&self, id: DeclId) -> Result<DeclId, DeclareError> {
        if self.owns(id) { Ok(id) } else { Err(DeclareError::ForeignId) }
    }

    pub(super) fn decl(&self, id: DeclId) -> &Decl {
        assert!(self.owns(id), "{id:?} was issued by other declarations");
        &self.decls[id.index()]
    }

    #[doc(hidden)]
    pub fn kind(&self, id: DeclId) -> &DeclKind {
        &self.decl(id).kind
    }

    pub(super) fn record(&self, id: DeclId) -> Option<&RecordDecl> {
        match self.kind(id) {
            DeclKind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Returns whether a C++ class is empty. clang: `CXXRecordDecl::isEmpty`.
    pub(super) fn is_empty(&self, ty: DeclId) -> bool {
        self.size_of(ty) != Some(0) && self.record(ty).is_some_and(|record| record.used == 0)
    }

    /// Returns the element type of an array, through all dimensions; `ty` if it is not an array.
    pub(super) fn innermost(&self, mut ty: DeclId) -> DeclId {
        while let DeclKind::Array { element, .. } = self.kind(ty) {
            ty = *element;
        }
        ty
    }

    pub(super) fn char(&self) -> DeclId {
        self.id(0)
    }

    pub(super) fn void(&self) -> DeclId {
        self.id(1)
    }

    pub(super) fn function(&self) -> DeclId {
        self.id(2)
    }

    pub(super) fn id(&self, index: u32) -> DeclId {
        DeclId { index, stamp: self.stamp }
    }

    pub(super) fn unknown(&self, name: &str) -> DeclareError {
        let nearest = nearest(name, self.names.keys().map(String::as_str)).map(str::to_owned);
        DeclareError::UnknownType { name: name.to_owned(), nearest }
    }

    pub(super) fn push(&mut self, decl: Decl) -> Result<DeclId, DeclareError> {
        let index = u32::try_from(self.decls.len()).ok().filter(|&index| index < u32::MAX);
        let index = index.ok_or(DeclareError::TooLarge { place: "declarations".to_owned() })?;
        self.decls.push(decl);
        Ok(self.id(index))
    }

    fn name(&mut self, name: &str, id: DeclId) -> Result<DeclId, DeclareError> {
        self.check_new(name)?;
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }

    fn check_new(&self, name: &str) -> Result<(), DeclareError> {
        match self.names.get(name) {
            Some(&first) => Err(DeclareError::Redefined { name: name.to_owned(), first }),
            None => Ok(()),
        }
    }

    /// Declares a scalar type of the program. Its parent is another scalar, such as C's `"char"`,
    /// which may alias everything.
    ///
    /// # Errors
    ///
    /// Those of [`Declarations::ty`]; [`DeclareError::Redefined`]; [`DeclareError::Invalid`] if the
    /// parent is not a scalar, or the alignment is not a power of two or is larger than 2^28.
    pub fn scalar(
        &mut self,
        name: impl Into<String>,
        layout: ScalarLayout,
        parent: &str,
    ) -> Result<DeclId, DeclareError> {
        let (name, ScalarLayout { size, align }) = (name.into(), layout);
        let parent = self.ty(parent)?;
        if !matches!(self.kind(parent), DeclKind::Scalar { .. }) {
            return invalid(name, "the parent must be a scalar");
        }
        check_align(&name, align)?;
        if size >= LIMIT {
            return Err(DeclareError::TooLarge { place: name });
        }
        self.check_new(&name)?;
        let kind = DeclKind::Scalar { name: name.clone(), parent: Some(parent), float: None };
        let id = self.push(Decl::new(kind, size, align))?;
        self.name(&name, id)
    }

    /// Declares a region: memory of a runtime, such as a linear memory, a stack or a table. The
    /// path `*name` denotes an access to the region, which may touch any number of elements. Such
    /// an access may alias accesses to the same region and to C's `char`, but not accesses to other
    /// regions or to C's other types. The element type `"char"` means bytes that hold anything, at
    /// any alignment.
    ///
    /// If two regions may be the same object, as imported memories may, declare one region, and
    /// give it two names with [`Declarations::alias`]. Declaring an equal region again is no error.
    ///
    /// ```
    /// use tbaa::declare::{Declarations, Target};
    /// use tbaa::Session;
    ///
    /// let mut types = Declarations::new(Target::x86_64());
    /// types.region("memory 0", "char")?;
    /// types.region("imported memories", "char")?;
    /// types.alias("memory 1", "imported memories")?;
    /// types.alias("memory 2", "imported memories")?;
    /// types.region("numbers", "double")?;
    ///
    /// let mut session = Session::with_unions(types);
    /// let tags = session.tags(&["*memory 0", "*memory 1", "*memory 2", "*numbers", "*double"])?;
    /// let may = |a: usize, b: usize| session.may_alias(tags[a], tags[b]);
    /// assert!(!may(0, 1) && may(1, 2) && !may(3, 4));
    /// # Ok::<(), tbaa::declare::DeclareError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Declarations::scalar`]; [`DeclareError::Invalid`] if `element` is not a scalar,
    /// an enum or a pointer.
    pub fn region(
        &mut self,
        name: impl Into<String>,
        element: &str,
    ) -> Result<DeclId, DeclareError> {
        let (name, element) = (name.into(), self.ty(element)?);
        let Decl {
            kind: DeclKind::Scalar { .. } | DeclKind::Pointer { .. } | DeclKind::Enum { .. },
            size: Some(size),
            align,
            ..
        } = *self.decl(element)
        else {
            return invalid(
                name,
                "a region has elements that are scalars or pointers: declare records by \
                          themselves",
            );
        };
        // A region of bytes is one large scalar, which an access of any size may touch.
        let size = if size == 1 { REGION } else { size };
        self.own_scalar(name, ScalarLayout { size, align })
    }

    /// Returns the scalar with this name, layout and parent `char`. Declares it if necessary.
    pub(super) fn own_scalar(&mut self, name: String, layout: ScalarLayout) -> Result<DeclId> {
        let is_same = |&id: &DeclId| match *self.decl(id) {
            Decl { kind: DeclKind::Scalar { name: ref own, parent, .. }, size, align, .. } => {
                id.index() >= self.builtins
                    && *own == name
                    && (parent, size) == (Some(self.char()), Some(layout.size))
                    && align == layout.align
            }
            _ => false,
        };
        match self.names.get(&name).copied().filter(is_same) {
            Some(id) => Ok(id),
            None => self.scalar(name, layout, "char"),
        }
    }

    /// Declares an enum. `integer` is the type of the enum's values, such as `"unsigned int"`.
    ///
    /// # Errors
    ///
    /// Those of [`Declarations::ty`]; [`DeclareError::Redefined`]; [`DeclareError::Invalid`] if
    /// `integer` is not an integer type.
    pub fn enumeration(&mut self, name: &str, integer: &str) -> Result<DeclId, DeclareError> {
        let integer = self.ty(integer)?;
        let Decl { kind: DeclKind::Scalar { float: None, .. }, size, align, .. } =
            *self.decl(integer)
        else {
            return invalid(name, "the type of an enum's values must be an integer");
        };
        self.check_new(name)?;
        let kind = DeclKind::Enum { name: name.to_owned(), integer };
        let id = self.push(Decl::new(kind, size, align))?;
        self.name(name, id)
    }

    /// Gives a type another name, like `typedef`. Giving the type a name that it has is no error.
    ///
    /// # Errors
    ///
    /// Those of [`Declarations::ty`]; [`DeclareError::Redefined`] if another type has the name.
    pub fn alias(&mut self, name: &str, ty: &str) -> Result<DeclId, DeclareError> {
        let id = self.ty(ty)?;
        if self.names.get(name) == Some(&id) { Ok(id) } else { self.name(name, id) }
    }

    pub(super) fn forward(&mut self, name: &str, union: bool) -> Result<DeclId, DeclareError> {
        let record = RecordDecl {
            name: name.to_owned(),
            title: name.to_owned(),
            union,
            ..RecordDecl::default()
        };
        let kind = DeclKind::Record(Box::new(record));
        let id = self.push(Decl::new(kind, None, 1))?;
        self.name(name, id)
    }

    pub(super) fn incomplete(&self, ty: DeclId, place: &str) -> DeclareError {
        DeclareError::Incomplete { ty: self.display(ty), place: place.to_owned(), id: ty }
    }
}

/// Returns an error if an alignment is not a power of two or is larger than clang allows.
pub(super) fn check_align(place: &str, align: u64) -> Result<(), DeclareError> {
    if align.is_power_of_two() && align <= 1 << 28 {
        return Ok(());
    }
    invalid(place, "an alignment must be a power of two, of 2^28 bytes at most")
}
