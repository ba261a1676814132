//! Finds stores that may give memory another type than an earlier store in the same function.
//!
//! C allows this for allocated memory, but LLVM may swap the two stores. The runtime warns of two
//! stores in one function. Only these stores check the previous state, because that takes time:
//! stores through two parameters, and stores to the same bytes of one object. Pairs of loaded
//! pointers are left out, because nearly every function has some.

use super::Pass;
use tbaa::{TagId, parts::table::HashSet};
use tbaa_ir::{Def, Function, Opcode, Pointers, Value};

/// Stores of a function that are compared with each other. In a function that has more, none looks.
const MOST: usize = 256;

struct Store {
    at: usize,
    pointer: Value,
    size: u64,
    tag: TagId,
    /// The parameters that the pointer is based on, if it is based on nothing else.
    parameters: Vec<Value>,
}

/// Returns the stores that must check the previous state.
pub(super) fn rewrites<'t>(
    pass: &Pass<'t>,
    function: &Function<'t>,
    pointers: &Pointers<'t>,
) -> HashSet<usize> {
    let is_parameter = |value: &Value| matches!(function.def(*value), Def::Parameter(_));
    let all = function.instructions.iter().enumerate();
    let stores = all.filter(|(_, inst)| inst.opcode == Opcode::Store).filter_map(|(at, inst)| {
        let access = &pass.module.instructions()[inst.access?];
        let tag = pass.telling(access.tag)?;
        let size = pass.size(inst.ty)?.store;
        let pointer = function.pointer(inst).filter(|pointer| !pointers.is_register(*pointer))?;
        let origins = pointers.origins(pointer);
        let parameters = if origins.iter().all(is_parameter) { origins } else { Vec::new() };
        Some(Store { at, pointer, size, tag, parameters })
    });
    let stores: Vec<Store> = stores.take(MOST + 1).collect();
    let mut found = HashSet::default();
    if stores.len() > MOST {
        return found;
    }
    let may_meet = |a: &Store, b: &Store| {
        let both = !a.parameters.is_empty() && !b.parameters.is_empty();
        let meet = pointers.meet((a.pointer, Some(a.size)), (b.pointer, Some(b.size)));
        meet.unwrap_or(both && a.parameters != b.parameters)
    };
    // The first oracle is that of rule `llvm`.
    let are_apart = |a: &Store, b: &Store| {
        a.tag != b.tag && may_meet(a, b) && !pass.oracles()[0].may_alias(a.tag, b.tag)
    };
    for (at, a) in stores.iter().enumerate() {
        let others = stores[..at].iter().filter(|b| are_apart(a, b));
        found.extend(others.flat_map(|b| [a.at, b.at]));
    }
    found
}
