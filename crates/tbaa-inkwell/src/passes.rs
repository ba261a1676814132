//! LLVM's passes with the plugin's analysis.

use std::ptr::NonNull;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;

/// Runs passes, such as `default<O2>`, on a module. Like inkwell's `run_passes`, but LLVM's alias
/// analyses also use the relation of the module's classes, if it has one, after all others.
///
/// # Errors
///
/// LLVM's message, if it cannot parse the pipeline.
pub fn run_passes(
    module: &Module<'_>,
    passes: &str,
    machine: &TargetMachine,
) -> Result<(), String> {
    // SAFETY: both are alive, and inkwell's contexts stay on their thread.
    unsafe {
        tbaa_plugin::run_passes(
            module.as_mut_ptr().cast(),
            passes,
            NonNull::new(machine.as_mut_ptr().cast()),
        )
    }
}
