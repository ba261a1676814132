// Asks LLVM itself about the TBAA tags of textual modules.
//
//   aa grid     [--fork] FILE...   may or no, for every pair of tags
//   aa generic  [--fork] FILE...   the tag that replaces both, for every pair
//   aa verify   [--fork] FILE...   does the verifier accept each tag
//   aa constant [--fork] FILE...   is the memory of each tag constant
//   aa functions [--fork] FILE...  verdicts and a grid for each function's tags
//
// The tags of a module are the distinct nodes in the `!tbaa` attachments of its
// instructions, in order of first appearance. Every answer is computed by
// LLVM's own code; this file only collects the tags and prints. A tag that the
// verifier rejects is never handed to the analysis, which may crash on it.
//
// README.md has the build command and the output formats.

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;

namespace {

constexpr int UnusableInput = 2;

[[noreturn]] void fail(const Twine &Message) {
  outs().flush();
  errs() << "aa: " << Message << '\n';
  exit(UnusableInput);
}

// --- Reading ---------------------------------------------------------------

// LLVM's reader dies on some tags (`!{}`, or a null first operand) while it
// upgrades them from the scalar format. Say so instead of dying silently.
void onReaderCrash(int) {
  static const char Message[] = "aa: LLVM crashed while reading the module\n";
  (void)!write(STDERR_FILENO, Message, sizeof Message - 1);
  _exit(UnusableInput);
}

std::unique_ptr<Module> readModule(StringRef Path, LLVMContext &Context) {
  signal(SIGSEGV, onReaderCrash);
  SMDiagnostic Diagnostic;
  // The plain entry points verify any module that has debug info, and abort
  // the process if one tag in it is bad. This one upgrades old tags but leaves
  // the verdict to us.
  std::unique_ptr<Module> M =
      parseAssemblyFileWithIndexNoUpgradeDebugInfo(
          Path, Diagnostic, Context, /*Slots=*/nullptr,
          [](StringRef, StringRef) { return std::nullopt; })
          .Mod;
  signal(SIGSEGV, SIG_DFL);
  if (!M) {
    outs().flush();
    Diagnostic.print("aa", errs());
    exit(UnusableInput);
  }
  return M;
}

void collectTags(const Function &F, SetVector<MDNode *> &Tags) {
  for (const Instruction &I : instructions(F))
    if (MDNode *Tag = I.getMetadata(LLVMContext::MD_tbaa))
      Tags.insert(Tag);
}

std::vector<MDNode *> collectTags(const Module &M) {
  SetVector<MDNode *> Tags;
  for (const Function &F : M)
    collectTags(F, Tags);
  return {Tags.begin(), Tags.end()};
}

// --- Asking ----------------------------------------------------------------

// A function with one load, to which tags are attached for the verifier.
class Probe {
  Module M;
  Function *F;
  LoadInst *Load;

public:
  explicit Probe(LLVMContext &Context) : M("probe", Context) {
    auto *Type = FunctionType::get(Type::getVoidTy(Context),
                                   {PointerType::get(Context, 0)}, false);
    F = Function::Create(Type, GlobalValue::ExternalLinkage, "probe", M);
    IRBuilder<> Builder(BasicBlock::Create(Context, "", F));
    Load = Builder.CreateLoad(Builder.getInt8Ty(), F->getArg(0));
    Builder.CreateRetVoid();
  }

  bool accepts(const MDNode *Tag) const {
    // The verifier reports a bad type node once, then trusts its cache: only a
    // fresh one judges each tag alone.
    return TBAAVerifier().visitTBAAMetadata(Load, Tag);
  }

  // TBAAVerifier can print only through a class that is private to LLVM, so
  // the message comes from the whole verifier.
  std::string complaint(MDNode *Tag) {
    Load->setMetadata(LLVMContext::MD_tbaa, Tag);
    std::string Text;
    raw_string_ostream Stream(Text);
    verifyFunction(*F, &Stream);
    Load->setMetadata(LLVMContext::MD_tbaa, nullptr);
    return StringRef(Text).split('\n').first.str();
  }
};

class Oracle {
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

public:
  bool mayAlias(MDNode *A, MDNode *B) {
    AliasResult Result = TBAA.alias(location(A), location(B), Query, nullptr);
    return Result != AliasResult::NoAlias;
  }

  bool isConstant(MDNode *Tag) {
    return TBAA.getModRefInfoMask(location(Tag), Query,
                                  /*IgnoreLocals=*/false) ==
           ModRefInfo::NoModRef;
  }
};

void printTypeName(const Metadata *Type, raw_ostream &OS) {
  const auto *Node = dyn_cast_or_null<MDNode>(Type);
  unsigned Id = 0;
  if (Node && Node->getNumOperands() >= 3 &&
      isa_and_nonnull<MDNode>(Node->getOperand(0).get()))
    Id = 2; // size-aware: parent, size, name
  const MDString *Name = nullptr;
  if (Node && Id < Node->getNumOperands())
    Name = dyn_cast_or_null<MDString>(Node->getOperand(Id).get());
  if (Name)
    printEscapedString(Name->getString(), OS);
  else
    OS << '!';
}

void printTag(const MDNode &Tag, raw_ostream &OS) {
  for (unsigned I = 0, E = Tag.getNumOperands(); I != E; ++I) {
    if (I != 0)
      OS << '\t';
    const Metadata *Operand = Tag.getOperand(I).get();
    if (auto *Number = mdconst::dyn_extract_or_null<ConstantInt>(Operand))
      OS << toString(Number->getValue(), 10, /*Signed=*/false);
    else
      printTypeName(Operand, OS);
  }
}

// --- Answering -------------------------------------------------------------

// A table of answers, printed line by line. Cells are numbered in row-major
// order.
struct Table {
  size_t Cells;
  size_t CellsPerLine; // of no use if EndsLine is set
  StringRef Crashed; // what to print where LLVM gave no answer
  std::function<void(size_t, raw_ostream &)> Answer;
  std::function<bool(size_t)> EndsLine = nullptr;

  bool endsLine(size_t Cell) const {
    return EndsLine ? EndsLine(Cell) : (Cell + 1) % CellsPerLine == 0;
  }

  void print() const {
    for (size_t Cell = 0; Cell != Cells; ++Cell) {
      Answer(Cell, outs());
      if (endsLine(Cell))
        outs() << '\n';
    }
  }

  void printForked() const;
};

// Text that a child passes to its parent, even if the child dies.
struct SharedLog {
  static constexpr size_t Capacity = 64 << 20;
  size_t Done; // cells answered so far
  size_t Used;
  char Text[Capacity];

  static SharedLog *map() {
    void *Memory = mmap(nullptr, sizeof(SharedLog), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (Memory == MAP_FAILED)
      fail("cannot map shared memory");
    return static_cast<SharedLog *>(Memory);
  }

  void append(StringRef Answer, bool EndLine) {
    if (Answer.size() + 1 > Capacity - Used)
      _exit(1); // no answer is this long: counts as a crash
    memcpy(Text + Used, Answer.data(), Answer.size());
    Used += Answer.size();
    if (EndLine)
      Text[Used++] = '\n';
    ++Done;
  }
};

// Limits a child's resources. The stack's end stops endless recursion; the timer
// stops all other endless (or exponential) work.
void limitChild() {
  rlimit NoCore = {0, 0};
  setrlimit(RLIMIT_CORE, &NoCore);
  rlimit Stack;
  getrlimit(RLIMIT_STACK, &Stack);
  Stack.rlim_cur = std::min<rlim_t>(Stack.rlim_cur, 8 << 20);
  setrlimit(RLIMIT_STACK, &Stack);
  dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); // LLVM's last words
}

// One second of processor time, not of wall time: a busy machine must not
// change answers.
void restartTimer() {
  itimerval OneSecond = {{0, 0}, {1, 0}};
  setitimer(ITIMER_PROF, &OneSecond, nullptr);
}

// One child answers as many cells as it can. If it dies, the cell it was at is
// the culprit, and the next child starts after it.
void Table::printForked() const {
  SharedLog *Log = SharedLog::map();
  while (Log->Done != Cells) {
    Log->Used = 0;
    outs().flush();
    pid_t Child = fork();
    if (Child < 0)
      fail("cannot fork");
    if (Child == 0) {
      limitChild();
      while (Log->Done != Cells && Log->Used < SharedLog::Capacity / 2) {
        restartTimer();
        SmallString<64> Text;
        raw_svector_ostream Stream(Text);
        Answer(Log->Done, Stream);
        Log->append(Text, endsLine(Log->Done));
      }
      _exit(0);
    }
    int Status;
    if (waitpid(Child, &Status, 0) != Child)
      fail("cannot wait for a child");
    if (Status != 0)
      Log->append(Crashed, endsLine(Log->Done));
    outs().write(Log->Text, Log->Used);
  }
  munmap(Log, sizeof(SharedLog));
}

// Makes a table with a line for each function: a letter for each of its tags,
// then one for each pair of tags that the verifier accepts, row by row.
Table makeFunctionTable(const Module &M, Oracle &Ask, Probe &P) {
  struct Cell {
    MDNode *A, *B; // no B: a verdict, whose letter is Answer
    char Answer;
    bool Ends;
  };
  auto All = std::make_shared<std::vector<Cell>>();
  for (const Function &F : M) {
    SetVector<MDNode *> Tags;
    collectTags(F, Tags);
    std::vector<MDNode *> Good;
    for (MDNode *Tag : Tags) {
      bool Accepted = P.accepts(Tag);
      All->push_back({Tag, nullptr, Accepted ? 'A' : 'R', false});
      if (Accepted)
        Good.push_back(Tag);
    }
    for (MDNode *A : Good)
      for (MDNode *B : Good)
        All->push_back({A, B, 0, false});
    if (!Tags.empty())
      All->back().Ends = true;
  }
  return {All->size(), 0, "C",
          [All, &Ask](size_t I, raw_ostream &OS) {
            const Cell &C = (*All)[I];
            OS << (!C.B ? C.Answer : Ask.mayAlias(C.A, C.B) ? 'M' : 'N');
          },
          [All](size_t I) { return (*All)[I].Ends; }};
}

Table makeTable(StringRef Command, const std::vector<MDNode *> &Tags,
                const std::vector<bool> &Accepted, Oracle &Ask, Probe &P) {
  size_t N = Tags.size();
  auto BothAccepted = [&, N](size_t Cell) {
    return Accepted[Cell / N] && Accepted[Cell % N];
  };
  if (Command == "grid")
    return {N * N, N, "C", [&, N, BothAccepted](size_t Cell, raw_ostream &OS) {
              OS << (!BothAccepted(Cell) ||
                             Ask.mayAlias(Tags[Cell / N], Tags[Cell % N])
                         ? 'M'
                         : 'N');
            }};
  if (Command == "generic")
    return {N * N, 1, "C", [&, N, BothAccepted](size_t Cell, raw_ostream &OS) {
              if (!BothAccepted(Cell))
                OS << "rejected";
              else if (const MDNode *Tag = MDNode::getMostGenericTBAA(
                           Tags[Cell / N], Tags[Cell % N]))
                printTag(*Tag, OS);
              else
                OS << "none";
            }};
  if (Command == "constant")
    return {N, 1, "C", [&](size_t I, raw_ostream &OS) {
              OS << (Accepted[I] && Ask.isConstant(Tags[I]) ? '1' : '0');
            }};
  if (Command == "verify")
    return {N, 1, "C", [&](size_t I, raw_ostream &OS) {
              if (Accepted[I])
                OS << "accept";
              else
                OS << "reject " << P.complaint(Tags[I]);
            }};
  fail("unknown command '" + Command + "'");
}

} // namespace

int main(int argc, char **argv) {
  std::vector<StringRef> Arguments(argv + 1, argv + argc);
  bool Fork = false;
  erase_if(Arguments, [&](StringRef Argument) {
    bool IsFork = Argument == "--fork";
    Fork |= IsFork;
    return IsFork;
  });
  if (Arguments.size() < 2)
    fail("usage: aa {grid|generic|verify|constant|functions} [--fork] FILE...");

  for (size_t I = 1; I != Arguments.size(); ++I) {
    LLVMContext Context;
    std::unique_ptr<Module> M = readModule(Arguments[I], Context);
    std::vector<MDNode *> Tags = collectTags(*M);
    Probe P(Context);
    Oracle Ask;
    std::vector<bool> Accepted;
    for (const MDNode *Tag : Tags)
      Accepted.push_back(P.accepts(Tag));
    Table Answers = Arguments[0] == "functions"
                        ? makeFunctionTable(*M, Ask, P)
                        : makeTable(Arguments[0], Tags, Accepted, Ask, P);
    if (Arguments.size() > 2)
      outs() << "== " << Arguments[I] << '\n';
    if (Fork)
      Answers.printForked();
    else
      Answers.print();
  }
  return 0;
}
