//! Finds loads through a pointer that a `phi`, for example, chooses from pointers (its arms) to
//! memory of different types.

use super::function::Read;
use super::{Lint, Report, Subject};
use tbaa::parts::table::HashMap;
use tbaa::{Oracle, TagId};
use tbaa_ir::{Address, Module, Object, Opcode};

/// The largest number of accesses to one address that are compared with a load.
const COMPARED: usize = 32;

pub(super) fn look(
    subject: &Subject,
    module: &Module<'_>,
    oracle: &Oracle<&tbaa::Graph>,
    read: &Read<'_>,
    report: &mut Report,
) {
    if !report.wants(Lint::ChosenPointer) {
        return;
    }
    let pointers = &read.pointers;
    let accesses = read.function.instructions.iter().filter_map(|inst| {
        let index = inst.access?;
        let tag = module.instructions()[index].tag?;
        Some((index, tag, inst.opcode, pointers.address(read.function.pointer(inst)?)))
    });
    let accesses: Vec<_> = accesses.collect();
    let arms = |address: &Address| -> Vec<Address> {
        let arms = pointers.chosen(address.base, &read.flow).iter().filter_map(|&arm| {
            let arm = pointers.address(arm);
            let offset = arm.offset.checked_add(address.offset)?;
            let mut terms = [&arm.terms[..], &address.terms].concat();
            terms.sort_unstable();
            Some(Address { base: arm.base, offset, terms })
        });
        arms.collect()
    };
    let loads = accesses.iter().filter(|access| access.2 == Opcode::Load);
    let loads = loads.map(|(load, tag, _, address)| (*load, *tag, arms(address)));
    let chosen: Vec<_> = loads.filter(|load| !load.2.is_empty()).collect();
    let mut through: HashMap<&Address, Vec<(usize, TagId, Opcode)>> = HashMap::default();
    for (index, tag, opcode, address) in accesses.iter().filter(|_| !chosen.is_empty()) {
        let list = through.entry(address).or_default();
        if list.len() < COMPARED {
            list.push((*index, *tag, *opcode));
        }
    }
    for (load, tag, arms) in chosen {
        // If an arm is a stack slot, LLVM may load through each arm, so all accesses are compared.
        // Otherwise loads are not compared: memory may be loaded as a type that was not stored.
        let has_slot = arms.iter().any(|arm| pointers.object(arm.base) == Object::Local);
        let mut others = arms.iter().filter_map(|arm| through.get(arm)).flatten();
        let other = others.find(|(_, its, opcode)| {
            (has_slot || *opcode != Opcode::Load) && !oracle.may_alias(*its, tag)
        });
        let Some(&(other, its, _)) = other else { continue };
        let [a, b] = [tag, its].map(|tag| subject.tag_meaning(tag));
        let [load, other] = [load, other].map(|index| &module.instructions()[index]);
        let function = subject.function_of(load);
        let message =
            || format!("a load as {a} is through a pointer that may be to {b}, in {function}");
        let Some(found) = report.add(Lint::ChosenPointer, message) else { continue };
        found.primary = Some(subject.instruction_label(load, format!("loaded as {a}")));
        found.secondary.push(subject.instruction_label(other, format!("this memory is {b}")));
        found.explain(
            "LLVM may load from both pointers with this tag, and then takes one of the loads for \
             apart from stores to its memory",
            "leave the load without a tag, or load in both branches, each with the tag of its memory",
        );
    }
}
