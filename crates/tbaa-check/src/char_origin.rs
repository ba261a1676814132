//! Finds the reason why clang tags an access as `char`, or does not tag it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use tbaa::TagId;
use tbaa_ir::{Def, Function, Inst, Instruction, Module, Opcode, Sizes, Value};
use tbaa_types::{Type, TypeKind};

/// The reason in the source why an access has no tag of its own type.
#[derive(Clone)]
pub enum CharOrigin {
    /// A `char` in the source: the access is to an `i8` or a vector of `i8`.
    Char,
    /// A member of a union, with the name of the union's LLVM type, such as `%union.u`.
    Union(String),
    /// A copy: a value that is loaded as `char`, and whose only use is a store as `char`.
    Copy,
    /// A vector type that may alias everything, such as `__m128i`.
    Vector,
    /// An access that is wider than a byte, for an unknown reason.
    Wider,
    /// A bit-field: bits of a word are read, or changed and stored. The access has no tag.
    BitField,
}

/// Returns whether a load or store is tagged `char` and its type is neither `i8` nor `<N x i8>`.
pub fn is_wider_char(module: &Module, sizes: &Sizes, instruction: &Instruction) -> bool {
    let plain = matches!(instruction.opcode, Opcode::Load | Opcode::Store);
    let is_wide = |ty| {
        // A vectoriser makes `<16 x i8>` of several chars.
        let element = sizes.with_kind(ty, |kind| match kind {
            TypeKind::Vector { element, .. } => element,
            _ => ty,
        });
        !sizes.with_kind(element, |kind| kind == TypeKind::Int(8))
    };
    plain
        && instruction.tag.is_some_and(|tag| is_char(module, tag))
        && sizes.ty(module.access_type(instruction)).is_none_or(is_wide)
}

/// Returns whether a tag's type is clang's `char`.
pub fn is_char(module: &Module, tag: TagId) -> bool {
    let graph = module.graph();
    graph.tag(tag).is_ok_and(|tag| graph.ty(tag.access).name() == Some(b"omnipotent char"))
}

/// Finds the origin of `char` tags. Remembers all answers, and the function of the last access.
pub struct CharOrigins<'a> {
    module: &'a Module<'a>,
    sizes: &'a Sizes,
    function: RefCell<Option<(u32, Rc<Function<'a>>)>>,
    known: RefCell<HashMap<u32, Option<CharOrigin>>>,
}

impl<'a> CharOrigins<'a> {
    /// Creates a finder for a module. `sizes` holds the sizes of the module's types.
    pub fn new(module: &'a Module<'a>, sizes: &'a Sizes) -> Self {
        CharOrigins { module, sizes, function: RefCell::default(), known: RefCell::default() }
    }

    /// Returns the origin of the `char` tag of a load or store, or the reason why an access to a
    /// bit-field has no tag. `None` for other instructions.
    pub fn of(&self, instruction: &Instruction) -> Option<CharOrigin> {
        if let Some(known) = self.known.borrow().get(&instruction.offset) {
            return known.clone();
        }
        let found = self.find(instruction);
        self.known.borrow_mut().insert(instruction.offset, found.clone());
        found
    }

    fn function(&self, number: u32) -> Rc<Function<'a>> {
        let mut last = self.function.borrow_mut();
        match &*last {
            Some((of, function)) if *of == number => Rc::clone(function),
            _ => {
                let function = Rc::new(self.module.function(self.sizes, number));
                *last = Some((number, Rc::clone(&function)));
                function
            }
        }
    }

    fn find(&self, instruction: &Instruction) -> Option<CharOrigin> {
        let module = self.module;
        if !matches!(instruction.opcode, Opcode::Load | Opcode::Store) {
            return None;
        }
        let function = self.function(instruction.function);
        let inst = &function.instructions[function.at(instruction.offset as usize)?];
        let Some(tag) = instruction.tag else {
            return is_bit_field(&function, inst).then_some(CharOrigin::BitField);
        };
        if !is_char(module, tag) {
            return None;
        }
        let element = function.pointer(inst).and_then(|pointer| function.inst(pointer));
        let element = element.filter(|element| element.opcode == Opcode::GetElementPtr);
        if let Some(union) = element.and_then(|element| self.union_of(&function, element)) {
            return Some(CharOrigin::Union(union));
        }
        if !is_wider_char(module, self.sizes, instruction) {
            return Some(CharOrigin::Char);
        }
        let is_vector = |kind: TypeKind<'_>| matches!(kind, TypeKind::Vector { .. });
        if inst.ty.is_some_and(|ty| self.sizes.with_kind(ty, is_vector)) {
            return Some(CharOrigin::Vector);
        }
        // For a store, the load of the stored value. For a load, the load itself.
        let load = match instruction.opcode {
            Opcode::Load => Some(inst),
            _ => function.stored(inst).and_then(|value| function.inst(value)),
        };
        let load = load.filter(|load| load.opcode == Opcode::Load);
        let both = load.zip(load.and_then(|load| copied(&function, load.result?)));
        let is_char = |inst: &Inst| {
            let tag = inst.access.and_then(|access| module.instructions()[access].tag);
            tag.is_some_and(|tag| is_char(module, tag))
        };
        let is_copy = both.is_some_and(|(load, store)| is_char(load) && is_char(store));
        Some(if is_copy { CharOrigin::Copy } else { CharOrigin::Wider })
    }

    /// Returns the name of the first union type on the path from a `getelementptr`'s source type.
    fn union_of(&self, function: &Function<'_>, element: &Inst) -> Option<String> {
        let mut indices = function.operands(element).iter().skip(2);
        let mut ty: Type = element.ty?;
        loop {
            let name = |kind: TypeKind<'_>| match kind {
                TypeKind::Identified { name: Some(name), .. } if name.starts_with(b"union.") => {
                    Some(format!("%{}", String::from_utf8_lossy(name)))
                }
                _ => None,
            };
            if let Some(name) = self.sizes.with_kind(ty, name) {
                return Some(name);
            }
            // No index: a struct's first member. A variable index: any element; all have one type.
            let index = match indices.next().map(|&indice| function.def(indice)) {
                Some(Def::Integer(index)) => index,
                _ => 0,
            };
            ty = self.sizes.part(ty, index)?;
        }
    }
}

/// Returns the store of a value, if the value is used for nothing else.
fn copied<'f>(function: &'f Function<'_>, value: Value) -> Option<&'f Inst> {
    let &[user] = function.users(value) else { return None };
    let store = &function.instructions[user as usize];
    (function.stored(store) == Some(value)).then_some(store)
}

/// Returns whether `inst` is a store that changes bits of a loaded word, or a load that only masks
/// and shifts use.
/// clang: `CodeGenFunction::EmitStoreThroughBitfieldLValue`, `EmitLoadOfBitfieldLValue`.
fn is_bit_field(function: &Function<'_>, inst: &Inst) -> bool {
    let masks = |inst: &Inst| {
        matches!(inst.opcode, Opcode::And | Opcode::LShr | Opcode::AShr | Opcode::Shl)
    };
    if inst.opcode == Opcode::Load {
        let users = inst.result.map(|result| function.users(result)).unwrap_or_default();
        return !users.is_empty()
            && users.iter().all(|&user| masks(&function.instructions[user as usize]));
    }
    let operand = |inst: &Inst, opcode| {
        let mut operands = function.operands(inst).iter().filter_map(|&of| function.inst(of));
        operands.find(|operand| operand.opcode == opcode)
    };
    // The stored value is the masked old word, or an `or` of that word and the new bits.
    let value = function.stored(inst).and_then(|stored| function.inst(stored));
    let masked = value.and_then(|value| match value.opcode {
        Opcode::Or => operand(value, Opcode::And),
        _ => Some(value).filter(|value| value.opcode == Opcode::And),
    });
    masked.is_some_and(|masked| operand(masked, Opcode::Load).is_some())
}
