//! Finds pairs of stores in a function that may write the same memory with tags that do not alias.
//!
//! C allows such stores to allocated memory, but LLVM may swap them, so the runtime warns. Warnings
//! cost time, so only two kinds of pairs are found: stores through different parameters, and stores
//! that certainly share bytes. Other pairs, such as stores through loaded pointers, are too common.

use super::Pass;
use tbaa::{TagId, parts::table::HashSet};
use tbaa_ir::{Def, Function, Opcode, Pointers, Value};

/// The largest number of stores in a function that are compared. With more, none is compared.
const MOST: usize = 256;

struct Store {
    at: usize,
    pointer: Value,
    size: u64,
    tag: TagId,
    /// The parameters that the pointer is based on; empty if it may be based on anything else.
    parameters: Vec<Value>,
}

/// Returns the instruction indices of the stores in all pairs that are found.
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
    // Oracle 0 uses `AliasRule::Llvm`.
    let are_apart = |a: &Store, b: &Store| {
        a.tag != b.tag && may_meet(a, b) && !pass.oracles()[0].may_alias(a.tag, b.tag)
    };
    for (at, a) in stores.iter().enumerate() {
        let others = stores[..at].iter().filter(|b| are_apart(a, b));
        found.extend(others.flat_map(|b| [a.at, b.at]));
    }
    found
}
