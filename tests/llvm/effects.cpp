// Prints how functions and calls access memory, according to LLVM.
//
//   effects        prints a module: every intrinsic, declared with simple types and
//                  called in a function of its own; on standard error, how many there
//                  are, and the names of those for which no types were found
//   effects FILE   for each function of a textual module a line `function NUMBER NAME`,
//                  and after it for each call in it `call NUMBER`: `getMemoryEffects`

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ModRef.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace {

using Types = SmallVector<Type *, 4>;

// The types to try for each type that an intrinsic is overloaded with.
std::vector<Types> candidates(LLVMContext &C, Intrinsic::ID ID) {
  Type *Int = Type::getInt32Ty(C), *Float = Type::getFloatTy(C), *Pointer = PointerType::get(C, 0);
  auto Vector = [](Type *T) -> Type * { return FixedVectorType::get(T, 4); };
  SmallVector<Intrinsic::IITDescriptor, 8> Table;
  Intrinsic::getIntrinsicInfoTableEntries(ID, Table);
  std::vector<Types> All;
  for (const auto &D : Table) {
    if (D.Kind == Intrinsic::IITDescriptor::VecOfAnyPtrsToElt)
      All.push_back({Vector(Pointer)});
    if (D.Kind != Intrinsic::IITDescriptor::Argument)
      continue;
    switch (D.getArgumentKind()) {
    case Intrinsic::IITDescriptor::AK_AnyInteger:
      All.push_back({Int, Vector(Int), Type::getInt64Ty(C), Vector(Type::getInt1Ty(C))});
      break;
    case Intrinsic::IITDescriptor::AK_AnyFloat:
      All.push_back({Float, Vector(Float)});
      break;
    case Intrinsic::IITDescriptor::AK_AnyVector:
      All.push_back({Vector(Int), Vector(Float), Vector(Pointer), FixedVectorType::get(Int, 840)});
      break;
    case Intrinsic::IITDescriptor::AK_AnyPointer:
      All.push_back({Pointer, Vector(Pointer)});
      break;
    case Intrinsic::IITDescriptor::AK_Any:
      All.push_back({Int, Float, Pointer, Vector(Int), Vector(Float)});
      break;
    default:
      break;
    }
  }
  return All;
}

// Makes the `Which`th choice of types; returns false after the last.
bool choose(const std::vector<Types> &All, unsigned Which, Types &Chosen) {
  for (const Types &Some : All) {
    Chosen.push_back(Some[Which % Some.size()]);
    Which /= Some.size();
  }
  return Which == 0;
}

bool fits(LLVMContext &C, Intrinsic::ID ID, const Types &Chosen) {
  FunctionType *T = Intrinsic::getType(C, ID, Chosen);
  // A type can be a vector with a third of another's elements: 0, if that has four.
  SmallVector<Type *, 8> Parts(T->subtypes());
  append_range(Parts, T->getReturnType()->subtypes());
  for (Type *Part : Parts)
    if (auto *Vector = dyn_cast<FixedVectorType>(Part); Vector && Vector->getNumElements() == 0)
      return false;
  SmallVector<Type *, 4> Read;
  return Intrinsic::getIntrinsicSignature(ID, T, Read) && Read == Chosen;
}

// Finds types that an intrinsic accepts. LLVM crashes on others, so a child process tries them.
bool find(LLVMContext &C, Intrinsic::ID ID, Types &Chosen) {
  if (!Intrinsic::isOverloaded(ID))
    return true;
  std::vector<Types> All = candidates(C, ID);
  for (unsigned Which = 0;; ++Which) {
    Chosen.clear();
    if (!choose(All, Which, Chosen) || Which > 200)
      return false;
    pid_t Child = fork();
    if (Child == 0) {
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      _exit(fits(C, ID, Chosen) ? 0 : 1);
    }
    int Status;
    if (waitpid(Child, &Status, 0) != Child)
      return false;
    if (Status == 0)
      return true;
  }
}

Value *argument(LLVMContext &C, Type *T) {
  if (T->isMetadataTy())
    return MetadataAsValue::get(C, MDNode::get(C, {}));
  if (T->isTokenTy())
    return ConstantTokenNone::get(C);
  if (T->isTargetExtTy() || T->isX86_AMXTy() || T->isLabelTy())
    return PoisonValue::get(T);
  return Constant::getNullValue(T);
}

void printIntrinsics() {
  LLVMContext C;
  Module M("intrinsics", C);
  unsigned Count = 0;
  for (unsigned ID = 1; ID < Intrinsic::num_intrinsics; ++ID) {
    Types Chosen;
    ++Count;
    if (!find(C, ID, Chosen)) {
      errs() << Intrinsic::getBaseName(ID) << '\n';
      continue;
    }
    Function *F = Intrinsic::getOrInsertDeclaration(&M, ID, Chosen);
    auto *Type = FunctionType::get(Type::getVoidTy(C), false);
    auto *Caller =
        Function::Create(Type, GlobalValue::ExternalLinkage, "call." + Twine(ID), M);
    IRBuilder<> B(BasicBlock::Create(C, "", Caller));
    SmallVector<Value *, 8> Arguments;
    for (llvm::Type *T : F->getFunctionType()->params())
      Arguments.push_back(argument(C, T));
    B.CreateCall(F, Arguments);
    B.CreateRetVoid();
  }
  errs() << Count << '\n';
  M.print(outs(), nullptr);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    printIntrinsics();
    return 0;
  }
  LLVMContext C;
  SMDiagnostic Error;
  std::unique_ptr<Module> M = parseAssemblyFile(argv[1], Error, C);
  if (!M) {
    Error.print(argv[0], errs());
    return 1;
  }
  for (const Function &F : *M) {
    outs() << "function " << F.getMemoryEffects().toIntValue() << ' ' << F.getName() << '\n';
    for (const Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I))
        outs() << "call " << Call->getMemoryEffects().toIntValue() << '\n';
  }
  return 0;
}
