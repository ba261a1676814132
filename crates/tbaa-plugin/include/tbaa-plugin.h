//===- tbaa-plugin.h - Alias analyses for LLVM ------------------*- C++ -*-===//
#ifndef TBAA_PLUGIN_H
#define TBAA_PLUGIN_H

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

namespace llvm {
class PassBuilder;
}

namespace tbaa {

/// Adds the analyses `tbaa-classes` and `tbaa-worth` and the pass `tbaa-measure`
/// to a pass builder. Call it before `registerModuleAnalyses` and the builder's
/// other functions that register analyses. If the builder has pass
/// instrumentation, every function pass and every pass over the call graph uses
/// the relation of a module that has one.
void registerTbaa(llvm::PassBuilder &PB);

} // namespace tbaa

/// Runs passes, such as "default<O2>", on a module. `tbaa-classes` is asked after
/// LLVM's own alias analyses. The machine may be null. Returns null, or a message
/// that says what is wrong with the pipeline; free it with LLVMDisposeMessage.
extern "C" char *tbaa_run_passes(LLVMModuleRef, const char *Passes,
                                 LLVMTargetMachineRef);

#endif
