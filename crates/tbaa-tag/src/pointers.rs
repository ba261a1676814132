//! Follows a pointer back to its origin.

use std::collections::HashSet;

use tbaa_ir::{Def, Function, Inst, Opcode, Value};
use tbaa_types::{Type, TypeKind};

use crate::error::Untagged;

/// A pointer behind this many `getelementptr`s and casts, or more, is not followed.
const LONGEST: usize = 64;

/// A function, and the pointers in it that may point inside an object.
pub(crate) struct Pointers<'f, 't> {
    pub(crate) function: &'f Function<'t>,
    inside: HashSet<Value>,
}

/// The origin of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Head {
    /// A pointer of unknown origin.
    Value(Value),
    /// A pointer that is loaded from this stack slot. All loads of a slot count as one pointer.
    Loaded(Value),
    Slot(Value),
    Global(Value),
}

/// The type and the indices of a `getelementptr`. A variable or negative index is `None`.
pub(crate) struct Indices {
    pub(crate) ty: Type,
    pub(crate) list: Vec<Option<u64>>,
}

impl<'f, 't> Pointers<'f, 't> {
    pub(crate) fn of(function: &'f Function<'t>) -> Self {
        Pointers { function, inside: inside(function) }
    }

    /// Returns a pointer's origin, and the `getelementptr`s from there to the pointer, in order.
    pub(crate) fn way(&self, pointer: Value) -> Result<(Head, Vec<Indices>), Untagged> {
        let function = self.function;
        let (mut pointer, mut steps) = (pointer, Vec::new());
        for _ in 0..LONGEST {
            let inst = function.inst(pointer);
            let opcode = inst.map(|inst| inst.opcode);
            let from = inst.and_then(|inst| function.operand(inst, 0)).ok_or(Untagged::Unread);
            let is_step = opcode == Some(Opcode::GetElementPtr);
            if is_step || opcode.is_some_and(Opcode::is_pointer_cast) {
                let step = inst.filter(|inst| is_step && !is_still(function, inst));
                steps.extend(step.map(|inst| self.indices(inst)).transpose()?);
                pointer = from?;
                continue;
            }
            let is_slot = |value: &Value| {
                function.inst(*value).is_some_and(|inst| inst.opcode == Opcode::Alloca)
            };
            let head = match (opcode, function.def(pointer)) {
                (Some(Opcode::Alloca), _) => Head::Slot(pointer),
                (Some(Opcode::Load), _) if let Some(slot) = from.ok().filter(is_slot) => {
                    Head::Loaded(slot)
                }
                (_, Def::Instruction(_)) if self.inside.contains(&pointer) => {
                    return Err(Untagged::Joined);
                }
                (_, Def::Instruction(_) | Def::Parameter(_) | Def::Unknown) => Head::Value(pointer),
                (_, Def::Global(_)) => Head::Global(pointer),
                _ => return Err(Untagged::Unread),
            };
            steps.reverse();
            return Ok((head, steps));
        }
        Err(Untagged::Unread)
    }

    fn indices(&self, inst: &Inst) -> Result<Indices, Untagged> {
        let number = |value: &Value| match self.function.def(*value) {
            Def::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        };
        let list = self.function.operands(inst).iter().skip(1).map(number).collect();
        Ok(Indices { ty: inst.ty.ok_or(Untagged::Unread)?, list })
    }
}

/// Returns whether a `getelementptr` has the single index 0, so that it changes nothing.
fn is_still(function: &Function<'_>, inst: &Inst) -> bool {
    matches!(function.operands(inst), &[_, index] if function.def(index) == Def::Integer(0))
}

/// Returns the pointers that may point into the middle of an object, or none if the function has no
/// `phi`, `select` or `freeze`. A `getelementptr` by whole objects does not lead into the middle.
fn inside(function: &Function<'_>) -> HashSet<Value> {
    let joins = |opcode| matches!(opcode, Opcode::Phi | Opcode::Select | Opcode::Freeze);
    if !function.instructions.iter().any(|inst| joins(inst.opcode)) {
        return HashSet::new();
    }
    let begins = |value: &Value| {
        let Some(inst) = function.inst(*value) else { return false };
        let is_byte = |ty| function.types().with_kind(ty, |kind| kind == TypeKind::Int(8));
        inst.opcode == Opcode::GetElementPtr
            && !is_still(function, inst)
            && (matches!(function.def(*value), Def::Expression(_))
                || function.operands(inst).len() > 2
                || inst.ty.is_some_and(is_byte))
    };
    let mut new: Vec<Value> = function.values().filter(begins).collect();
    let mut found: HashSet<Value> = new.iter().copied().collect();
    while let Some(value) = new.pop() {
        for &at in function.users(value) {
            let user = &function.instructions[at as usize];
            let goes_on = joins(user.opcode)
                || user.opcode == Opcode::GetElementPtr
                || user.opcode.is_pointer_cast();
            if let Some(result) = user.result.filter(|_| goes_on)
                && found.insert(result)
            {
                new.push(result);
            }
        }
    }
    found
}
