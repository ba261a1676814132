//===- tbaa-plugin.h - LLVM asks the oracle's relation -----------*- C++ -*-===//
#ifndef TBAA_PLUGIN_H
#define TBAA_PLUGIN_H

#include "llvm-c/Core.h"
#include "llvm-c/TargetMachine.h"

namespace llvm {
class PassBuilder;
}

namespace tbaa {

/// Adds the analyses `tbaa-classes` and `tbaa-worth` and the pass `tbaa-measure`
/// to a pass builder. Call it before `registerModuleAnalyses` and its like.
/// If the builder has pass instrumentation, every function pass and every pass
/// over the call graph asks the relation of a module that has one.
void registerTbaa(llvm::PassBuilder &PB);

} // namespace tbaa

/// Runs passes, such as "default<O2>", on a module, with `tbaa-classes` asked after
/// LLVM's own alias analyses. The machine may be null. Returns null, or what is
/// wrong with the pipeline, to be freed by LLVMDisposeMessage.
extern "C" char *tbaa_run_passes(LLVMModuleRef, const char *Passes,
                                 LLVMTargetMachineRef);

#endif
