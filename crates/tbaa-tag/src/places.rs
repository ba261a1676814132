//! Finds the struct member that each load or store of a module accesses.

use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::{Def, Global, Module, Opcode, Sizes};
use tbaa_types::{Context, Type, TypeKind};

use crate::error::Untagged;
use crate::pointers::{Head, Indices, Pointers};
use crate::shapes::{Index, Item, Shapes};

/// A load or store, and the `getelementptr`s on the path from its pointer's origin (`head`).
pub(crate) struct PlacedAccess {
    pub(crate) instruction: usize,
    pub(crate) function: u32,
    pub(crate) block: usize,
    pub(crate) ty: Type,
    pub(crate) head: Head,
    /// The type of the object at `head`, if it is known.
    pub(crate) declared: Option<Type>,
    /// The `getelementptr`s on the path, in order.
    pub(crate) steps: Vec<Indices>,
}

/// The facts that determine an access's tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) base: Item,
    pub(crate) offset: u64,
    /// The index of the accessed scalar's type in [`Shapes`].
    pub(crate) scalar: u32,
    /// The type at which the path begins, or `None` if the path has no struct member.
    pub(crate) root: Option<Type>,
}

pub(crate) struct Reader<'t> {
    module: &'t Module<'t>,
    sizes: &'t Sizes,
    globals: HashMap<&'t [u8], Global<'t>>,
}

/// A module's accesses, and whether a `getelementptr` of the module is on a struct type.
pub(crate) struct Accesses {
    pub(crate) accesses: Vec<(usize, Result<PlacedAccess, Untagged>)>,
    /// The successors of each block, for each function with an access that may get a tag.
    pub(crate) flows: HashMap<u32, Vec<Vec<usize>>>,
    pub(crate) has_structs: bool,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(module: &'t Module<'t>, sizes: &'t Sizes) -> Self {
        Reader { module, sizes, globals: module.globals(sizes) }
    }

    pub(crate) fn accesses(self) -> Accesses {
        let mut found =
            Accesses { accesses: Vec::new(), flows: HashMap::default(), has_structs: false };
        for number in 0..self.module.functions().len() as u32 {
            let function = self.module.function(self.sizes, number);
            let (pointers, before) = (Pointers::of(&function), found.accesses.len());
            for (at, inst) in function.instructions.iter().enumerate() {
                let names_struct = || inst.ty.is_some_and(|ty| self.has_struct(ty));
                found.has_structs |= inst.opcode == Opcode::GetElementPtr && names_struct();
                if let Some(instruction) = inst.access.filter(|_| inst.opcode != Opcode::Call) {
                    let access = self.access((number, at), instruction, &pointers);
                    found.accesses.push((instruction, access));
                }
            }
            if found.accesses[before..].iter().any(|access| access.1.is_ok()) {
                let blocks = function.blocks.into_iter();
                found.flows.insert(number, blocks.map(|block| block.successors).collect());
            }
        }
        found
    }

    /// Returns whether a type is a struct, or has struct elements, or points to a struct.
    fn has_struct(&self, mut ty: Type) -> bool {
        loop {
            let inner = self.sizes.with_kind(ty, |kind| match kind {
                TypeKind::Literal { .. } | TypeKind::Identified { .. } => Err(true),
                TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => Ok(element),
                TypeKind::Pointer { pointee: Some(pointee), .. } => Ok(pointee),
                _ => Err(false),
            });
            match inner {
                Ok(inner) => ty = inner,
                Err(known) => return known,
            }
        }
    }

    fn access(
        &self,
        (number, at): (u32, usize),
        instruction: usize,
        pointers: &Pointers<'_, 't>,
    ) -> Result<PlacedAccess, Untagged> {
        let function = pointers.function;
        let (inst, of) = (&function.instructions[at], &self.module.instructions()[instruction]);
        if of.tag.is_some() {
            return Err(Untagged::Tagged);
        }
        if of.atomic {
            return Err(Untagged::Atomic);
        }
        let ty = inst.ty.ok_or(Untagged::Unread)?;
        let is_scalar = self.sizes.with_kind(ty, |kind| match kind {
            TypeKind::Int(_) | TypeKind::Pointer { .. } => true,
            TypeKind::Primitive(it) => it.is_floating_point(),
            _ => false,
        });
        if !is_scalar || !matches!(inst.opcode, Opcode::Load | Opcode::Store) {
            return Err(Untagged::NotScalar);
        }
        let pointer = function.pointer(inst).ok_or(Untagged::Unread)?;
        let (head, steps) = pointers.way(pointer)?;
        let declared = match head {
            Head::Slot(_) if steps.is_empty() => return Err(Untagged::Slot),
            Head::Slot(slot) => {
                Some(function.inst(slot).and_then(|inst| inst.ty).ok_or(Untagged::Unread)?)
            }
            Head::Global(global) => {
                let Def::Global(name) = function.def(global) else { return Err(Untagged::Type) };
                let ty = self.globals.get(name).map(|global| global.ty).ok_or(Untagged::Type)?;
                Some(self.sizes.ty(ty).ok_or(Untagged::Unread)?)
            }
            Head::Value(_) | Head::Loaded(_) => None,
        };
        let block = function.block_of(at);
        Ok(PlacedAccess { instruction, function: number, block, ty, head, declared, steps })
    }
}

pub(crate) struct Follower<'s, 'c> {
    pub(crate) shapes: &'s mut Shapes<'c>,
    pub(crate) context: &'c Context,
    pub(crate) elements: bool,
    pub(crate) opaque: HashSet<Type>,
    /// The result of [`Shapes::followed`].
    pub(crate) followed: Vec<bool>,
}

/// The state while a path is followed.
struct At {
    ty: Type,
    path: Vec<Index>,
    /// True if the object of type `ty` may be an element of an array.
    among: bool,
    /// True if something may follow the member that the path last entered.
    is_followed: bool,
    /// True if the path has entered a union, where it ends.
    is_union: bool,
}

impl Follower<'_, '_> {
    pub(crate) fn place(&mut self, access: &PlacedAccess) -> Result<Place, Untagged> {
        let first = access.steps.first().map_or(access.ty, |step| step.ty);
        if let Some(declared) = access.declared {
            self.begins_with(declared, first)?;
        }
        let (path, is_union) = (Vec::new(), self.shapes.is_union(first));
        let mut at = At { ty: first, path, among: true, is_followed: false, is_union };
        for (number, step) in access.steps.iter().enumerate() {
            if at.is_union {
                break;
            }
            self.same(at.ty, step.ty)?;
            let (first, rest) = step.list.split_first().ok_or(Untagged::Unread)?;
            if number > 0 && !at.among && *first != Some(0) {
                return Err(Untagged::Index);
            }
            at.among |= *first != Some(0);
            rest.iter().try_for_each(|&index| self.step(&mut at, index))?;
        }
        self.refuse(at.ty)?;
        if at.is_union && self.elements {
            // A plain pointer may lead to any scalar in the union.
            return Err(Untagged::Opaque);
        }
        let shape = |it: &mut Self, ty| it.shapes.of(ty).ok_or(Untagged::Unread);
        let is_member = at.is_union || at.path.iter().any(|path| matches!(path, Index::Member(_)));
        let scalar = match at.is_union {
            true => shape(self, at.ty)?,
            false => {
                self.same(at.ty, access.ty)?;
                shape(self, access.ty)?
            }
        };
        let is_byte = self.shapes.is_byte(scalar);
        if !is_member {
            return match self.elements && !is_byte {
                true => Ok(Place { base: Item::Scalar(scalar), offset: 0, scalar, root: None }),
                false if is_byte && !access.steps.is_empty() => Err(Untagged::ByteArray),
                false => Err(Untagged::NoMember),
            };
        }
        if at.among && is_byte {
            return Err(Untagged::ByteArray);
        }
        let root = shape(self, first)?;
        let (base, offset) = self.shapes.cut(root, &at.path).ok_or(Untagged::Unread)?;
        Ok(Place { base, offset, scalar, root: Some(first) })
    }

    fn step(&mut self, at: &mut At, index: Option<u64>) -> Result<(), Untagged> {
        if at.is_union {
            return Ok(());
        }
        self.refuse(at.ty)?;
        match self.context.kind(at.ty) {
            TypeKind::Array { element, len } => {
                // C programs also use arrays of length 0 and 1 as longer ones.
                let is_inside = index.map_or(len > 1, |index| index < len);
                if at.is_followed && !is_inside {
                    return Err(Untagged::Index);
                }
                at.path.push(Index::Element);
                (at.ty, at.among) = (element, len > 1 || !at.is_followed);
            }
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                let member = index.and_then(|index| usize::try_from(index).ok());
                let member = member.ok_or(Untagged::Unread)?;
                let parts = self.context.parts(at.ty);
                let part = parts.get(member).ok_or(Untagged::Unread)?;
                let shape = self.shapes.of(at.ty).ok_or(Untagged::Unread)?;
                at.is_followed = member + 1 < parts.len() || self.followed[shape as usize];
                at.path.push(Index::Member(member));
                (at.ty, at.among) = (*part, false);
            }
            _ => return Err(Untagged::NotScalar),
        }
        at.is_union = self.shapes.is_union(at.ty);
        Ok(())
    }

    /// Returns an error for an opaque type, or a union of clang.
    fn refuse(&self, ty: Type) -> Result<(), Untagged> {
        let is_union = |name: &[u8]| name.starts_with(b"union.");
        match self.opaque.contains(&ty) {
            true => Err(Untagged::Opaque),
            // This is clang's name for a union. The LLVM type of a union shows only one member.
            false if self.context.name(ty).is_some_and(is_union) => Err(Untagged::Type),
            false => Ok(()),
        }
    }

    /// Returns an error if an access as type `asked` does not fit `there`, the type in memory.
    fn same(&mut self, there: Type, asked: Type) -> Result<(), Untagged> {
        self.refuse(there)?;
        if there == asked {
            return Ok(());
        }
        match (self.shapes.of(there), self.shapes.of(asked)) {
            (Some(a), Some(b)) if a == b => Ok(()),
            (Some(a), _) if self.shapes.is_byte(a) => Err(Untagged::Bytes),
            (_, Some(b)) if self.shapes.is_byte(b) => Err(Untagged::Bytes),
            (Some(_), Some(_)) => Err(Untagged::Type),
            _ => Err(Untagged::Unread),
        }
    }

    /// Returns an error if an object of type `declared` does not begin with type `asked`.
    fn begins_with(&mut self, mut declared: Type, asked: Type) -> Result<(), Untagged> {
        loop {
            let result = self.same(declared, asked);
            let next = match self.context.kind(declared) {
                TypeKind::Array { element, len: 1.. } => element,
                TypeKind::Literal { elements: [first, ..], .. } => *first,
                TypeKind::Identified { body: Some([first, ..]), .. } => *first,
                _ => return result,
            };
            if result.is_ok() || result == Err(Untagged::Opaque) {
                return result;
            }
            self.refuse(declared)?;
            declared = next;
        }
    }
}
