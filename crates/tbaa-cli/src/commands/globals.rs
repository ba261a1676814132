//! Global variables that several modules give different types.

use std::collections::HashMap;

use tbaa::types::{Type, TypeKind};
use tbaa_ir::Sizes;

use crate::input::{Content, Input};
use crate::printable::printable;
use crate::report::warn;

/// The global variables of the modules that were seen: by name, the type and the first file that has it so.
#[derive(Default)]
pub(super) struct Globals(HashMap<Vec<u8>, (String, String)>);

impl Globals {
    /// Warns of each variable that is one scalar in a module and another in an earlier one.
    ///
    /// What is no scalar may be spelled in many ways: clang gives a variable the type of its initial value.
    pub(super) fn add(&mut self, input: &Input) {
        let Content::Module(module) = &input.content else { return };
        let sizes = Sizes::new(module);
        let scalar = |ty: &[u8]| -> Option<Type> {
            let ty = sizes.opaque(sizes.ty(ty)?);
            let is_scalar = |kind: TypeKind<'_>| {
                matches!(kind, TypeKind::Primitive(_) | TypeKind::Int(_) | TypeKind::Pointer { .. })
            };
            sizes.with_kind(ty, is_scalar).then_some(ty)
        };
        let globals = module.globals(&sizes).into_iter().filter(|it| !it.1.local);
        let mut globals: Vec<(&[u8], String)> = globals
            .filter_map(|(name, global)| Some((name, sizes.written(scalar(global.ty)?))))
            .collect();
        globals.sort_unstable();
        let mut clashes = Vec::new();
        for (name, ty) in globals {
            let new = || (ty.clone(), input.file().to_owned());
            let (other, file) = self.0.entry(name.to_owned()).or_insert_with(new);
            if *other != ty {
                let (name, here) = (printable(name), input.file());
                clashes.push(format!(
                    "@{name} is {other} in {file}, and {ty} in {here}: what one file stores, the other \
                     reads as another type; declare the variable once, in a header of both"
                ));
            }
        }
        warn(&clashes, |text| (None, text.clone()));
    }
}
