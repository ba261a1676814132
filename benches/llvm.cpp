// LLVM 22 for the benches, in their own process: parses the text that this
// library reads, and answers the same pairs of tags.
//
// src/llvm.rs compiles this to a shared library and is its only caller. LLVM
// may crash on tags that its verifier rejects: the caller passes none.

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <malloc.h>
#include <string>
#include <utility>
#include <vector>

using namespace llvm;

namespace {

struct Bench {
  LLVMContext Context;
  std::unique_ptr<Module> M;
  std::vector<MDNode *> Tags;
  std::vector<std::pair<MDNode *, MDNode *>> Pairs;

  TargetLibraryInfoImpl LibraryImpl{Triple()};
  TargetLibraryInfo Library{LibraryImpl};
  AAResults Aggregate{Library};
  SimpleAAQueryInfo Query{Aggregate};
  TypeBasedAAResult TBAA{/*UsingTypeSanitizer=*/false};

  static MemoryLocation location(MDNode *Tag) {
    AAMDNodes Metadata;
    Metadata.TBAA = Tag;
    return MemoryLocation(nullptr, LocationSize::beforeOrAfterPointer(),
                          Metadata);
  }

  bool mayAlias(MDNode *A, MDNode *B) {
    return TBAA.alias(location(A), location(B), Query, nullptr) !=
           AliasResult::NoAlias;
  }

  // Collects the distinct tags of `!tbaa` attachments in order of first
  // appearance or, if there are none, those that `!tbaa.tags` lists.
  void collectTags() {
    SetVector<MDNode *> Found;
    for (const Function &F : *M)
      for (const Instruction &I : instructions(F))
        if (MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa))
          Found.insert(Tag);
    if (NamedMDNode *List = M->getNamedMetadata("tbaa.tags"))
      if (Found.empty())
        for (MDNode *Tag : List->operands())
          Found.insert(Tag);
    Tags.assign(Found.begin(), Found.end());
  }
};

} // namespace

extern "C" {

// Parses a text that ends with a zero byte, which `Length` does not count.
// Returns null if LLVM rejects it.
Bench *bench_parse(const char *Text, size_t Length) {
  auto B = std::make_unique<Bench>();
  SMDiagnostic Diagnostic;
  B->M = parseAssembly(MemoryBufferRef(StringRef(Text, Length), "bench"),
                       Diagnostic, B->Context);
  if (!B->M) {
    Diagnostic.print("bench", errs());
    return nullptr;
  }
  return B.release();
}

void bench_free(Bench *B) { delete B; }

// Finds the tags and returns how many there are.
size_t bench_tags(Bench *B) {
  B->collectTags();
  return B->Tags.size();
}

// Looks up the tags of pairs of tag numbers, for the two functions below.
void bench_pairs(Bench *B, const uint32_t *Numbers, size_t Count) {
  B->Pairs.clear();
  B->Pairs.reserve(Count);
  for (size_t I = 0; I != Count; ++I)
    B->Pairs.emplace_back(B->Tags[Numbers[2 * I]], B->Tags[Numbers[2 * I + 1]]);
}

// Asks pairs First to First + Count; returns how many may alias.
size_t bench_ask(Bench *B, size_t First, size_t Count) {
  size_t May = 0;
  for (size_t I = First, E = First + Count; I != E; ++I)
    May += B->mayAlias(B->Pairs[I].first, B->Pairs[I].second);
  return May;
}

// Asks one tag against all; returns how many may alias.
size_t bench_row(Bench *B, size_t Tag) {
  size_t May = 0;
  for (MDNode *Other : B->Tags)
    May += B->mayAlias(B->Tags[Tag], Other);
  return May;
}

// Asks all pairs that were looked up. Writes 1 for those that may alias, else 0.
void bench_answers(Bench *B, uint8_t *Answers) {
  for (size_t I = 0, E = B->Pairs.size(); I != E; ++I)
    Answers[I] = B->mayAlias(B->Pairs[I].first, B->Pairs[I].second);
}

// Makes the most generic tags of pairs First to First + Count; returns how many
// pairs have one.
size_t bench_generic(Bench *B, size_t First, size_t Count) {
  size_t Some = 0;
  for (size_t I = First, E = First + Count; I != E; ++I)
    Some += MDNode::getMostGenericTBAA(B->Pairs[I].first,
                                       B->Pairs[I].second) != nullptr;
  return Some;
}

// Prints the module; returns the number of bytes.
size_t bench_print(Bench *B) {
  std::string Text;
  raw_string_ostream Stream(Text);
  B->M->print(Stream, nullptr);
  return Text.size();
}

// Makes a struct type with a name of its own, and a tag of its second field.
void bench_grow(Bench *B, size_t Number, size_t Fields) {
  MDBuilder Builder(B->Context);
  MDNode *Root = Builder.createTBAARoot("Simple C/C++ TBAA");
  MDNode *Scalar = Builder.createTBAAScalarTypeNode("omnipotent char", Root);
  std::vector<std::pair<MDNode *, uint64_t>> List;
  for (size_t I = 0; I != Fields; ++I)
    List.emplace_back(Scalar, 8 * I);
  MDNode *Struct = Builder.createTBAAStructTypeNode(
      "grown." + std::to_string(Number), List);
  Builder.createTBAAStructTagNode(Struct, Scalar, 8);
}

// Returns the number of bytes that this process has allocated with malloc.
size_t bench_heap() {
  struct mallinfo2 Info = mallinfo2();
  return Info.uordblks + Info.hblkhd;
}
}
