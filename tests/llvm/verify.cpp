// Prints what LLVM's verifier says of the tags of textual modules.
//
//   verify FILE...
//
// A file holds any number of modules, each after a line `;; module`. For each
// module it prints a line for each instruction with `!tbaa`, in order, and a line
// for each operand of `!llvm.errno.tbaa`:
//
//   accept            TBAAVerifier, on a fresh start, returns true
//   reject MESSAGE    it returns false; the message may be empty
//   crash             LLVM dies
//
// then `module accept`, `module reject` or `module crash`: what `opt
// -passes=verify` would say.
// For a module that LLVM cannot read it prints only `unreadable`.

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace {

// The progress of the children, which remains if a child dies.
struct Progress {
  size_t Module; // the current module
  size_t Line;   // lines printed for that module
  enum { Reading, Asking, Judging } State;
};

struct Case {
  const Instruction *User; // null for errno
  MDNode *Tag;
};

void print(const Twine &Line, Progress &At) {
  std::string Text = (Line + "\n").str();
  (void)!write(STDOUT_FILENO, Text.data(), Text.size());
  ++At.Line;
}

std::vector<Case> collect(Module &M) {
  std::vector<Case> Cases;
  for (const Function &F : M)
    for (const Instruction &I : instructions(F))
      if (MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa))
        Cases.push_back({&I, Tag});
  if (NamedMDNode *Errno = M.getNamedMetadata("llvm.errno.tbaa"))
    for (MDNode *Tag : Errno->operands())
      Cases.push_back({nullptr, Tag});
  return Cases;
}

// Returns the verifier's message on one tag. TBAAVerifier can print only through
// a class that is private to LLVM. So all other tags are removed while the whole
// verifier runs.
std::string complaint(Module &M, const std::vector<Case> &Cases, size_t Which) {
  NamedMDNode *Errno = M.getNamedMetadata("llvm.errno.tbaa");
  std::vector<MDNode *> Listed;
  if (Errno) {
    Listed.assign(Errno->op_begin(), Errno->op_end());
    Errno->clearOperands();
    if (!Cases[Which].User)
      Errno->addOperand(Cases[Which].Tag);
    else
      M.eraseNamedMetadata(Errno);
  }
  for (const Case &C : Cases)
    if (C.User)
      const_cast<Instruction *>(C.User)->setMetadata(LLVMContext::MD_tbaa, nullptr);
  if (Cases[Which].User)
    const_cast<Instruction *>(Cases[Which].User)
        ->setMetadata(LLVMContext::MD_tbaa, Cases[Which].Tag);
  std::string Text;
  raw_string_ostream Stream(Text);
  verifyModule(M, &Stream);
  for (const Case &C : Cases)
    if (C.User)
      const_cast<Instruction *>(C.User)->setMetadata(LLVMContext::MD_tbaa, C.Tag);
  if (!Listed.empty()) {
    Errno = M.getOrInsertNamedMetadata("llvm.errno.tbaa");
    Errno->clearOperands();
    for (MDNode *Tag : Listed)
      Errno->addOperand(Tag);
  }
  return StringRef(Text).split('\n').first.str();
}

// Answers for a module, from the line at which the last child died.
void answer(StringRef Text, Progress &At) {
  LLVMContext Context;
  SMDiagnostic Diagnostic;
  At.State = Progress::Reading;
  auto Buffer = MemoryBuffer::getMemBufferCopy(Text, "module");
  // This upgrades old tags, like every tool. It verifies only modules that have
  // debug information.
  std::unique_ptr<Module> M = parseAssembly(Buffer->getMemBufferRef(), Diagnostic, Context);
  At.State = Progress::Asking;
  if (!M) {
    print("unreadable", At);
    return;
  }
  std::vector<Case> Cases = collect(*M);
  for (size_t I = At.Line; I < Cases.size(); ++I) {
    if (TBAAVerifier().visitTBAAMetadata(Cases[I].User, Cases[I].Tag))
      print("accept", At);
    else
      print("reject " + complaint(*M, Cases, I), At);
  }
  At.State = Progress::Judging;
  print(verifyModule(*M) ? "module reject" : "module accept", At);
}

} // namespace

int main(int argc, char **argv) {
  auto *At = static_cast<Progress *>(mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int I = 1; I < argc; ++I) {
    auto File = MemoryBuffer::getFile(argv[I]);
    if (!File) {
      errs() << "verify: cannot read " << argv[I] << '\n';
      return 2;
    }
    SmallVector<StringRef> Modules;
    (*File)->getBuffer().split(Modules, ";; module\n");
    // The text before the first `;; module` is not a module.
    *At = {1, 0, Progress::Reading};
    while (At->Module < Modules.size()) {
      pid_t Child = fork();
      if (Child < 0)
        return 2;
      if (Child == 0) {
        // LLVM recurses endlessly on some types.
        rlimit Limit{8 << 20, 8 << 20};
        setrlimit(RLIMIT_STACK, &Limit);
        rlimit Cpu{20, 20};
        setrlimit(RLIMIT_CPU, &Cpu);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        for (; At->Module < Modules.size(); ++At->Module, At->Line = 0)
          answer(Modules[At->Module], *At);
        _exit(0);
      }
      int Status;
      if (waitpid(Child, &Status, 0) != Child)
        return 2;
      if (Status == 0)
        break;
      if (At->State == Progress::Asking) {
        print("crash", *At);
        continue;
      }
      print(At->State == Progress::Reading ? "unreadable" : "module crash", *At);
      *At = {At->Module + 1, 0, Progress::Reading};
    }
  }
  return 0;
}
