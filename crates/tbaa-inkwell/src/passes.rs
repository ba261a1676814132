//! Runs LLVM's passes with the alias analysis of the crate `tbaa_plugin`.

use std::ptr::NonNull;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Runs passes, such as `default<O2>`, like inkwell's `run_passes`. After LLVM's alias analyses,
/// these passes use one that reads the alias table in the module's `!tbaa.relations`, if any.
///
/// # Errors
///
/// LLVM's message, if it cannot parse the pipeline.
pub fn run_passes(
    module: &Module<'_>,
    passes: &str,
    machine: &TargetMachine,
) -> Result<(), String> {
    // SAFETY: module and machine are alive, and inkwell's contexts stay on their thread.
    unsafe {
        tbaa_plugin::run_passes(
            module.as_mut_ptr().cast(),
            passes,
            NonNull::new(machine.as_mut_ptr().cast()),
        )
    }
}
