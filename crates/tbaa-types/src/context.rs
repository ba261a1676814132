//! The store of types. Equal types have equal ids, and ids are checked to belong to the store.

use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashTable;

use super::Type;
use super::kind::{
    ADDRESS_SPACES, ElementCount, MAX_INT_BITS, Packing, Primitive, TypeError, TypeKind,
};
use crate::table::{DefaultHashBuilder, HashMap, HashSet, IndexSet};

pub(super) const LIMIT: usize = 1 << 31;
/// The name index of a numbered struct, which has no name.
pub(super) const UNNAMED: u32 = u32::MAX;

/// The kind and parameters of a type, without its parts (the types that it consists of).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Symbol {
    Primitive(Primitive),
    Int(u32),
    Pointer { address_space: u32 },
    Array { len: u64 },
    Vector { len: u32, scalable: bool },
    Function { var_arg: bool },
    Literal { packed: bool },
    Identified { name: u32, packed: bool, opaque: bool },
    Target { name: u32, ints: u32 },
}

#[derive(Clone, Copy)]
pub(super) struct Record {
    pub(super) symbol: Symbol,
    pub(super) first: u32,
    pub(super) count: u32,
}

/// A store of LLVM-style types.
///
/// Every type except identified structs is stored once: two ids are equal exactly if the types are
/// equal. Each identified struct is a separate type. It is opaque until [`Context::set_body`],
/// which changes no ids. Names are unique: a struct whose name is already used gets a
/// suffix `.N`. Methods panic if a type is from another context, except [`Context::owns`] and those
/// that return [`TypeError::ForeignId`].
///
/// ```
/// use tbaa_types::{Context, Packing, Primitive};
///
/// let mut context = Context::new();
/// let i32 = context.int(32)?;
/// let list = context.named_struct(b"intlist")?;
/// let to_list = context.typed_pointer(list, 0)?;
/// context.set_body(list, &[to_list, i32], Packing::Padded)?;
/// assert_eq!(context.definition(list).to_string(), "%intlist = type { %intlist*, i32 }");
///
/// let pair = context.literal_struct(&[i32, i32], Packing::Padded)?;
/// let again = context.literal_struct(&[i32, i32], Packing::Padded)?;
/// assert_eq!(pair, again, "literal structs are uniqued");
/// let again = context.named_struct(b"intlist")?;
/// assert_ne!(list, again, "identified ones are not");
/// assert_eq!(context.display(again).to_string(), "%intlist.0");
/// # Ok::<(), tbaa_types::TypeError>(())
/// ```
///
/// LLVM: the types of an `LLVMContext`.
pub struct Context {
    pub(super) stamp: u32,
    pub(super) records: Vec<Record>,
    pub(super) parts: Vec<Type>,
    pub(super) strings: IndexSet<Box<[u8]>>,
    pub(super) ints: IndexSet<Box<[u32]>>,
    /// The identified struct with each name. The key is the name's index in `strings`.
    pub(super) named: HashMap<u32, u32>,
    /// The next suffix for a name in use: LLVM's `NamedStructTypesUniqueID`.
    pub(super) next_suffix: u64,
    /// The index of each type except identified structs, hashed by symbol and parts.
    pub(super) unique: HashTable<u32>,
    pub(super) hasher: DefaultHashBuilder,
    pub(super) identified: Vec<u32>,
    /// The identified structs without a name, in the order in which they were made.
    pub(super) numbered: Vec<u32>,
    /// Opaque structs that were used as a part of another type.
    pub(super) held: HashSet<u32>,
    /// True for a result of `MergedTypes::part`, where numbers at the end of names have no meaning.
    #[cfg_attr(not(feature = "equal"), expect(dead_code))]
    pub(super) is_part: bool,
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Context {
    /// Returns a context that has only the primitive types.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let record =
            |&primitive| Record { symbol: Symbol::Primitive(primitive), first: 0, count: 0 };
        Context {
            stamp: NEXT.fetch_add(1, Ordering::Relaxed),
            records: Primitive::ALL.iter().map(record).collect(),
            parts: Vec::new(),
            strings: IndexSet::default(),
            ints: IndexSet::default(),
            named: HashMap::default(),
            next_suffix: 0,
            unique: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            identified: Vec::new(),
            numbered: Vec::new(),
            held: HashSet::default(),
            is_part: false,
        }
    }

    /// Returns the number of types in the context.
    pub fn type_count(&self) -> usize {
        self.records.len()
    }

    /// Returns all types, in the order in which they were made. Primitive types come first.
    pub fn types(&self) -> impl DoubleEndedIterator<Item = Type> + ExactSizeIterator + '_ {
        (0..self.records.len() as u32).map(|index| self.id(index))
    }

    /// Returns all identified structs, in the order in which they were made.
    pub fn structs(&self) -> impl DoubleEndedIterator<Item = Type> + ExactSizeIterator + '_ {
        self.identified.iter().map(|&index| self.id(index))
    }

    /// Returns whether `ty` belongs to this context.
    pub fn owns(&self, ty: Type) -> bool {
        ty.stamp == self.stamp && ty.index() < self.records.len()
    }

    /// Returns the kind of a type.
    ///
    /// # Panics
    ///
    /// Panics if `ty` is from another context.
    pub fn kind(&self, ty: Type) -> TypeKind<'_> {
        let parts = self.parts(ty);
        match self.symbol(ty) {
            Symbol::Primitive(primitive) => TypeKind::Primitive(primitive),
            Symbol::Int(bits) => TypeKind::Int(bits),
            Symbol::Pointer { address_space } => {
                TypeKind::Pointer { address_space, pointee: parts.first().copied() }
            }
            Symbol::Array { len } => TypeKind::Array { element: parts[0], len },
            Symbol::Vector { len, scalable } => {
                let count =
                    if scalable { ElementCount::Scalable(len) } else { ElementCount::Fixed(len) };
                TypeKind::Vector { element: parts[0], count }
            }
            Symbol::Function { var_arg } => {
                TypeKind::Function { result: parts[0], params: &parts[1..], var_arg }
            }
            Symbol::Literal { packed } => {
                TypeKind::Literal { elements: parts, packing: packing(packed) }
            }
            Symbol::Identified { packed, opaque, .. } => TypeKind::Identified {
                name: self.name(ty),
                body: (!opaque).then_some(parts),
                packing: packing(packed),
            },
            Symbol::Target { name, ints } => TypeKind::Target {
                name: &self.strings[name as usize],
                types: parts,
                ints: &self.ints[ints as usize],
            },
        }
    }

    /// Returns the parts of a type: the elements, the pointee, the result and the parameters, or a
    /// target type's type parameters. An opaque struct has none.
    ///
    /// # Panics
    ///
    /// Panics if `ty` is from another context.
    ///
    /// LLVM: `Type::subtypes`.
    pub fn parts(&self, ty: Type) -> &[Type] {
        let record = self.record(ty);
        &self.parts[record.first as usize..record.first as usize + record.count as usize]
    }

    /// Returns the unnamed struct that is displayed as `%index`.
    #[doc(hidden)]
    pub fn nth_numbered(&self, index: usize) -> Option<Type> {
        self.numbered.get(index).map(|&ty| self.id(ty))
    }

    /// Returns an identified struct's name; `None` for any other type and for a numbered struct.
    ///
    /// # Panics
    ///
    /// Panics if `ty` is from another context.
    pub fn name(&self, ty: Type) -> Option<&[u8]> {
        match self.symbol(ty) {
            Symbol::Identified { name, .. } if name != UNNAMED => {
                Some(&self.strings[name as usize])
            }
            _ => None,
        }
    }

    /// Returns the identified struct with this name.
    ///
    /// LLVM: `StructType::getTypeByName`.
    pub fn struct_by_name(&self, name: &[u8]) -> Option<Type> {
        let name = self.strings.get_index_of(name)? as u32;
        self.named.get(&name).map(|&index| self.id(index))
    }

    /// Returns a primitive type.
    pub fn primitive(&self, primitive: Primitive) -> Type {
        self.id(primitive as u32)
    }

    /// Returns the integer type with `bits` bits.
    ///
    /// # Errors
    ///
    /// Returns [`TypeError::IntWidth`] or [`TypeError::Full`]. LLVM: `IntegerType::get`.
    pub fn int(&mut self, bits: u32) -> Result<Type, TypeError> {
        if !(1..=MAX_INT_BITS).contains(&bits) {
            return Err(TypeError::IntWidth(bits.into()));
        }
        self.unique(Symbol::Int(bits), &[])
    }

    /// Returns the opaque pointer type `ptr` of an address space.
    ///
    /// # Errors
    ///
    /// Returns [`TypeError::AddressSpace`] or [`TypeError::Full`]. LLVM: `PointerType::get`.
    pub fn pointer(&mut self, address_space: u32) -> Result<Type, TypeError> {
        if address_space >= ADDRESS_SPACES {
            return Err(TypeError::AddressSpace(address_space.into()));
        }
        self.unique(Symbol::Pointer { address_space }, &[])
    }

    /// Returns the type `pointee*`, which LLVM had before version 17.
    ///
    /// # Errors
    ///
    /// Fails as [`Context::array`] does, or with [`TypeError::AddressSpace`].
    pub fn typed_pointer(&mut self, pointee: Type, address_space: u32) -> Result<Type, TypeError> {
        use Primitive::{Label, Metadata, Token, Void, X86Amx};
        if address_space >= ADDRESS_SPACES {
            return Err(TypeError::AddressSpace(address_space.into()));
        }
        let place = "pointed to; write i8* or ptr";
        self.refuse(&[pointee], place, &[Void, Label, Metadata, Token, X86Amx], false)?;
        self.unique(Symbol::Pointer { address_space }, &[pointee])
    }

    /// Returns the type of arrays with `len` elements.
    ///
    /// # Errors
    ///
    /// Returns [`TypeError::Element`], [`TypeError::ForeignId`] or [`TypeError::Full`]. LLVM:
    /// `ArrayType::get`.
    pub fn array(&mut self, element: Type, len: u64) -> Result<Type, TypeError> {
        use Primitive::{Label, Metadata, Token, Void, X86Amx};
        let place = "an element of an array";
        self.refuse(&[element], place, &[Void, Label, Metadata, Token, X86Amx], true)?;
        self.unique(Symbol::Array { len }, &[element])
    }

    /// Returns the type of vectors with this many elements.
    ///
    /// # Errors
    ///
    /// Returns [`TypeError::VectorLength`] for length 0, and [`TypeError::Element`] unless elements
    /// are integers, floating-point numbers, pointers or `target("llvm.test.vectorelement")`.
    /// Otherwise fails as [`Context::array`] does. LLVM: `VectorType::get`.
    pub fn vector(&mut self, element: Type, count: ElementCount) -> Result<Type, TypeError> {
        let (len, scalable) = (count.min(), count.is_scalable());
        if len == 0 {
            return Err(TypeError::VectorLength(0));
        }
        let fits = match self.checked(element)?.symbol {
            Symbol::Primitive(primitive) => primitive.is_floating_point(),
            Symbol::Int(_) | Symbol::Pointer { .. } => true,
            // The only target type that LLVM allows in a vector is this one, made for tests.
            Symbol::Target { name, .. } => {
                *self.strings[name as usize] == *b"llvm.test.vectorelement"
            }
            _ => false,
        };
        if !fits {
            return Err(self.misplaced(element, "an element of a vector"));
        }
        self.unique(Symbol::Vector { len, scalable }, &[element])
    }

    /// Returns a function type. Fails as [`Context::array`] does. LLVM: `FunctionType::get`.
    pub fn function(&mut self, result: Type, params: &[Type]) -> Result<Type, TypeError> {
        self.function_type(result, params, false)
    }

    /// Returns the type of functions from `params` and a variable number of arguments to `result`.
    /// Fails as [`Context::array`] does. LLVM: `FunctionType::get` with `isVarArg`.
    pub fn variadic_function(&mut self, result: Type, params: &[Type]) -> Result<Type, TypeError> {
        self.function_type(result, params, true)
    }

    fn function_type(
        &mut self,
        result: Type,
        params: &[Type],
        var_arg: bool,
    ) -> Result<Type, TypeError> {
        use Primitive::{Label, Metadata, Void};
        self.refuse(&[result], "the result of a function", &[Label, Metadata], true)?;
        self.refuse(params, "a parameter of a function", &[Void, Label], true)?;
        let mut parts = Vec::with_capacity(params.len() + 1);
        parts.push(result);
        parts.extend_from_slice(params);
        self.unique(Symbol::Function { var_arg }, &parts)
    }
}

fn packing(packed: bool) -> Packing {
    if packed { Packing::Packed } else { Packing::Padded }
}
