//! Makes structs and target types, and holds helpers for making all types.

use std::hash::BuildHasher;

use super::context::{Context, LIMIT, Record, Symbol, UNNAMED};
use super::kind::{Packing, Primitive, TypeError};
use super::{Type, print};
use crate::table::{HashMap, HashSet};

impl Context {
    /// Returns the literal struct type with these elements.
    ///
    /// # Errors
    ///
    /// [`TypeError::Element`], [`TypeError::ForeignId`], [`TypeError::Full`].
    /// LLVM: `StructType::get`.
    pub fn literal_struct(
        &mut self,
        elements: &[Type],
        packing: Packing,
    ) -> Result<Type, TypeError> {
        self.check_elements(elements)?;
        self.unique(Symbol::Literal { packed: packing == Packing::Packed }, elements)
    }

    /// Returns a target extension type.
    ///
    /// # Errors
    ///
    /// [`TypeError::TargetParameters`] if LLVM 22 rejects these parameters for `name`;
    /// [`TypeError::Name`]; [`TypeError::ForeignId`]; [`TypeError::Full`].
    /// LLVM: `TargetExtType::getOrError`.
    pub fn target(&mut self, name: &[u8], types: &[Type], ints: &[u32]) -> Result<Type, TypeError> {
        for &ty in types {
            self.checked(ty)?;
        }
        let fits = match name {
            b"aarch64.svcount" => (types.is_empty() && ints.is_empty(), "no parameters"),
            b"amdgcn.named.barrier" => {
                (types.is_empty() && ints.len() == 1, "one integer and no type")
            }
            b"riscv.vector.tuple" => {
                let vector = |&ty| matches!(self.symbol(ty), Symbol::Vector { scalable: true, .. });
                let fits = types.len() == 1 && types.iter().all(vector) && ints.len() == 1;
                (fits, "a scalable vector and one integer")
            }
            b"spirv.Type" => (ints.len() == 3, "three integers"),
            _ => (true, ""),
        };
        if !fits.0 {
            return Err(TypeError::TargetParameters { takes: fits.1 });
        }
        let name = self.intern_name(name)?;
        let ints = match self.ints.get_index_of(ints) {
            Some(index) => index,
            None => self.ints.insert_full(ints.into()).0,
        };
        self.unique(Symbol::Target { name, ints: ints as u32 }, types)
    }

    /// Makes an opaque struct. If its name is taken, a suffix `.N` is added. An empty name makes a
    /// struct without a name, as [`Context::numbered_struct`].
    ///
    /// # Errors
    ///
    /// [`TypeError::Name`], [`TypeError::Full`]. LLVM: `StructType::create`, `StructType::setName`.
    pub fn named_struct(&mut self, name: &[u8]) -> Result<Type, TypeError> {
        if name.is_empty() {
            return self.numbered_struct();
        }
        let mut string = self.intern_name(name)?;
        while self.named.contains_key(&string) {
            let mut tried = name.to_vec();
            tried.extend_from_slice(format!(".{}", self.next_suffix).as_bytes());
            self.next_suffix += 1;
            string = self.intern_name(&tried)?;
        }
        let ty =
            self.push(Symbol::Identified { name: string, packed: false, opaque: true }, &[])?;
        self.identified.push(ty.index);
        self.named.insert(string, ty.index);
        Ok(ty)
    }

    /// Makes an opaque struct without a name, which prints as `%0`, `%1`, ...
    /// Fails with [`TypeError::Full`]. LLVM: `StructType::create` without a name.
    pub fn numbered_struct(&mut self) -> Result<Type, TypeError> {
        let symbol = Symbol::Identified { name: UNNAMED, packed: false, opaque: true };
        let ty = self.push(symbol, &[])?;
        self.identified.push(ty.index);
        self.numbered.push(ty.index);
        Ok(ty)
    }

    /// Gives an opaque struct its body. No other type changes.
    ///
    /// The time is proportional to the number of elements; if a type already contains the struct,
    /// to the number of types that the elements contain.
    ///
    /// # Errors
    ///
    /// [`TypeError::NotIdentified`]; [`TypeError::HasBody`]; [`TypeError::Recursive`] if the struct
    /// contains itself without a pointer between; the errors of [`Context::literal_struct`].
    /// LLVM: `StructType::setBodyOrError`.
    pub fn set_body(
        &mut self,
        ty: Type,
        elements: &[Type],
        packing: Packing,
    ) -> Result<(), TypeError> {
        self.checked(ty)?;
        self.check_elements(elements)?;
        // If no type contains the struct yet, only `elements` themselves need a check.
        let found = match self.held.contains(&ty.index) {
            true => self.contains(elements, ty),
            false => elements.contains(&ty),
        };
        if found {
            return Err(self.recursive(ty));
        }
        self.complete(ty, elements, packing)
    }

    /// Like [`Context::set_body`], but does not check whether the struct contains itself.
    #[doc(hidden)]
    pub fn complete(
        &mut self,
        ty: Type,
        elements: &[Type],
        packing: Packing,
    ) -> Result<(), TypeError> {
        let Symbol::Identified { name, opaque, .. } = self.checked(ty)?.symbol else {
            return Err(TypeError::NotIdentified);
        };
        if !opaque {
            return Err(TypeError::HasBody);
        }
        self.check_elements(elements)?;
        let (first, count) = self.push_parts(elements)?;
        self.hold(elements);
        self.held.remove(&ty.index);
        let packed = packing == Packing::Packed;
        self.records[ty.index()] =
            Record { symbol: Symbol::Identified { name, packed, opaque: false }, first, count };
        Ok(())
    }

    /// Makes an identified struct opaque again. Does nothing if `ty` is of another kind.
    #[doc(hidden)]
    pub fn forget_body(&mut self, ty: Type) {
        if let Symbol::Identified { name, .. } = self.symbol(ty) {
            let symbol = Symbol::Identified { name, packed: false, opaque: true };
            self.records[ty.index()] = Record { symbol, first: 0, count: 0 };
            self.held.insert(ty.index);
        }
    }

    #[doc(hidden)]
    pub fn check_elements(&self, elements: &[Type]) -> Result<(), TypeError> {
        use Primitive::{Label, Metadata, Token, Void};
        let place = "an element of a struct";
        self.refuse(elements, place, &[Void, Label, Metadata, Token], true)
    }

    #[doc(hidden)]
    pub fn recursive(&self, ty: Type) -> TypeError {
        let name = self.name(ty).map(|name| String::from_utf8_lossy(name).into_owned());
        TypeError::Recursive { name }
    }

    /// Returns a struct that contains itself, if one is in `types` or contained in one of them.
    #[doc(hidden)]
    pub fn find_cycle(&self, types: impl Iterator<Item = Type>) -> Option<Type> {
        // Types found so far; true while their contents are still being searched.
        let mut met: HashMap<Type, bool> = HashMap::default();
        for start in types {
            let mut stack = vec![(start, 0)];
            while let Some((ty, at)) = stack.pop() {
                match met.get(&ty) {
                    // Each cycle contains a struct, and any struct on the cycle can be reported.
                    Some(true) if at == 0 => {
                        let mut cycle = stack.iter().rev().map(|&(ty, _)| ty);
                        return cycle.find(|&ty| self.identified.binary_search(&ty.index).is_ok());
                    }
                    Some(false) => continue,
                    _ => {}
                }
                let parts = if Self::holds_parts(self.symbol(ty)) { self.parts(ty) } else { &[] };
                met.insert(ty, at < parts.len());
                if let Some(&part) = parts.get(at) {
                    stack.extend([(ty, at + 1), (part, 0)]);
                }
            }
        }
        None
    }

    /// Returns whether a type contains its parts directly, so that it must not contain itself. This
    /// holds for all types except pointers. LLVM: `StructType::checkBody`.
    pub(super) fn holds_parts(symbol: Symbol) -> bool {
        !matches!(symbol, Symbol::Pointer { .. })
    }

    /// Returns whether `ty` is one of `elements` or contained in one.
    fn contains(&self, elements: &[Type], ty: Type) -> bool {
        let mut seen = HashSet::default();
        let mut work = elements.to_vec();
        while let Some(next) = work.pop() {
            if next == ty {
                return true;
            }
            if Self::holds_parts(self.symbol(next)) && seen.insert(next) {
                work.extend_from_slice(self.parts(next));
            }
        }
        false
    }

    fn hold(&mut self, parts: &[Type]) {
        for part in parts {
            if matches!(self.symbol(*part), Symbol::Identified { opaque: true, .. }) {
                self.held.insert(part.index);
            }
        }
    }

    /// Fails for a type of another context, a type in `refused`, or, if `functions`, a function.
    pub(super) fn refuse(
        &self,
        types: &[Type],
        place: &'static str,
        refused: &[Primitive],
        functions: bool,
    ) -> Result<(), TypeError> {
        for &ty in types {
            let fits = match self.checked(ty)?.symbol {
                Symbol::Primitive(primitive) => !refused.contains(&primitive),
                Symbol::Function { .. } => !functions,
                _ => true,
            };
            if !fits {
                return Err(self.misplaced(ty, place));
            }
        }
        Ok(())
    }

    pub(super) fn misplaced(&self, ty: Type, place: &'static str) -> TypeError {
        let ty = print::shortened(self, ty);
        TypeError::Element { place, ty }
    }

    /// Returns the uniqued type that has this symbol and these parts. Makes it if it is new.
    pub(super) fn unique(&mut self, symbol: Symbol, parts: &[Type]) -> Result<Type, TypeError> {
        for &part in parts {
            self.checked(part)?;
        }
        let hash = self.hasher.hash_one((symbol, parts));
        let found = self.unique.find(hash, |&other| {
            let other = self.id(other);
            self.symbol(other) == symbol && self.parts(other) == parts
        });
        if let Some(&index) = found {
            return Ok(self.id(index));
        }
        let ty = self.push(symbol, parts)?;
        if Self::holds_parts(symbol) {
            self.hold(parts);
        }
        let Context { unique, hasher, records, parts, .. } = self;
        unique.insert_unique(hash, ty.index, |&other| {
            let Record { symbol, first, count } = records[other as usize];
            let range = first as usize..first as usize + count as usize;
            hasher.hash_one((symbol, &parts[range]))
        });
        Ok(ty)
    }

    fn push(&mut self, symbol: Symbol, parts: &[Type]) -> Result<Type, TypeError> {
        if self.records.len() >= LIMIT {
            return Err(TypeError::Full);
        }
        let (first, count) = self.push_parts(parts)?;
        self.records.push(Record { symbol, first, count });
        Ok(self.id(self.records.len() as u32 - 1))
    }

    fn push_parts(&mut self, parts: &[Type]) -> Result<(u32, u32), TypeError> {
        let first = self.parts.len();
        if parts.len() > LIMIT - first {
            return Err(TypeError::Full);
        }
        self.parts.extend_from_slice(parts);
        Ok((first as u32, parts.len() as u32))
    }

    fn intern_name(&mut self, name: &[u8]) -> Result<u32, TypeError> {
        if name.contains(&0) {
            return Err(TypeError::Name);
        }
        if let Some(index) = self.strings.get_index_of(name) {
            return Ok(index as u32);
        }
        if self.strings.len() >= LIMIT {
            return Err(TypeError::Full);
        }
        Ok(self.strings.insert_full(name.into()).0 as u32)
    }

    pub(super) fn id(&self, index: u32) -> Type {
        Type { index, stamp: self.stamp }
    }

    pub(super) fn symbol(&self, ty: Type) -> Symbol {
        self.record(ty).symbol
    }

    pub(super) fn record(&self, ty: Type) -> &Record {
        assert!(self.owns(ty), "{ty:?} was issued by another context");
        &self.records[ty.index()]
    }

    pub(super) fn checked(&self, ty: Type) -> Result<Record, TypeError> {
        if self.owns(ty) { Ok(self.records[ty.index()]) } else { Err(TypeError::ForeignId) }
    }
}
