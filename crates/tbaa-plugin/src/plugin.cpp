//===- plugin.cpp - Alias analyses for LLVM -------------------------------===//
//
// Two alias analyses for LLVM 22.
//
// `tbaa-classes` answers from a relation that the module carries. Each access
// has one scope, which names its class, and no `noalias` list, so that LLVM
// without this plugin learns nothing from it. Named metadata holds the relation:
//
//   !tbaa.relations = !{!0}
//   !0 = !{!"tbaa:F", !"0", !"1 0", !"2 0 1"}   class 2 may alias 0 and 1 (and 2)
//   !1 = !{!"tbaa:F"}                           the domain of fingerprint F
//   !2 = !{!"tbaa:F:2", !1}                     the scope of class 2
//
// A row is the number of a class, and then the smaller numbers of the classes
// that it may alias. It does not alias the other classes with smaller numbers. A
// class without a row may alias all classes. Classes of different fingerprints
// are not compared. If two modules give one class different rows, a pair may
// alias if either row says so.
//
// `tbaa-worth` is LLVM's own type-based analysis. It records its answers, and
// gives only those that a file allows. If it is the last in the pipeline of
// analyses, it is asked only the questions that all others leave open.
//
// Both load into `opt` and `clang` (-fpass-plugin=), and `registerTbaa` adds
// them to a PassBuilder.
//
//===----------------------------------------------------------------------===//

#include "tbaa-plugin.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace llvm;

#if LLVM_VERSION_MAJOR != 22
#error "tbaa-plugin is written for LLVM 22"
#endif

namespace {

//===-- The relation ------------------------------------------------------===//

constexpr char RelationsName[] = "tbaa.relations";
constexpr char DomainPrefix[] = "tbaa:";

/// A question that tells whether an analysis is present: only that analysis
/// answers NoAlias. Nothing is known about the pointers, and no other analysis
/// knows the scopes.
class Probe {
  StringLiteral Names[2];
  static bool isNamed(const MemoryLocation &Loc, StringRef Name) {
    const MDNode *N = Loc.AATags.Scope;
    auto *Text = N && N->getNumOperands() == 1
                     ? dyn_cast_or_null<MDString>(N->getOperand(0))
                     : nullptr;
    return Text && Text->getString() == Name;
  }

public:
  constexpr Probe(StringLiteral A, StringLiteral B) : Names{A, B} {}

  bool are(const MemoryLocation &A, const MemoryLocation &B) const {
    return isNamed(A, Names[0]) && isNamed(B, Names[1]);
  }

  /// Returns whether these alias analyses include the one that answers.
  bool isAnsweredBy(AAResults &AA, LLVMContext &Context) const {
    Type *Pointer = PointerType::getUnqual(Context);
    Type *I64 = Type::getInt64Ty(Context);
    MemoryLocation Locs[2];
    for (uint64_t I : {0, 1}) {
      Locs[I].Ptr = ConstantExpr::getIntToPtr(
          ConstantInt::get(I64, (I + 1) << 12), Pointer);
      Locs[I].AATags.Scope =
          MDNode::get(Context, MDString::get(Context, Names[I]));
    }
    return AA.isNoAlias(Locs[0], Locs[1]);
  }
};

constexpr Probe Related("tbaa-plugin:0", "tbaa-plugin:1");
constexpr Probe Watched("tbaa-plugin:2", "tbaa-plugin:3");

/// The relations that the named metadata of one module holds.
class Relations {
public:
  explicit Relations(const Module &M) {
    const NamedMDNode *Named = M.getNamedMetadata(RelationsName);
    if (!Named)
      return;
    for (const MDNode *N : Named->operands())
      if (N->getNumOperands())
        if (auto *Name = dyn_cast_or_null<MDString>(N->getOperand(0)))
          add(Name->getString(), *N);
  }

  bool empty() const { return ByDomain.empty(); }

  /// Returns whether accesses with these two lists of scopes touch no common byte.
  bool apart(const MDNode *A, const MDNode *B) {
    if (!A || !B)
      return false;
    for (const MDOperand &Op : A->operands()) {
      const Table *T = of(Op.get()).first;
      if (T && apartIn(*T, A, B))
        return true;
    }
    return false;
  }

private:
  using Row = SmallVector<unsigned, 4>;
  using Table = DenseMap<unsigned, Row>;
  using Class = std::pair<const Table *, unsigned>;
  // A DenseMap reserves the two numbers above this one.
  static constexpr unsigned Unknown = ~0u - 2;

  void add(StringRef Domain, const MDNode &N) {
    if (!Domain.starts_with(DomainPrefix))
      return;
    Table &T = ByDomain[Domain];
    for (const MDOperand &Op : drop_begin(N.operands())) {
      auto *Text = dyn_cast_or_null<MDString>(Op.get());
      SmallVector<StringRef, 8> Words;
      if (Text)
        SplitString(Text->getString(), Words);
      unsigned Class;
      if (Words.empty() || Words[0].getAsInteger(10, Class) || Class >= Unknown)
        continue;
      Row &R = T[Class];
      for (StringRef Word : drop_begin(Words)) {
        unsigned Other;
        R.push_back(Word.getAsInteger(10, Other) ? Unknown : Other);
      }
      // `Unknown` is the largest number, and so the last.
      llvm::sort(R);
    }
  }

  /// Returns the class that a scope names: the table of its fingerprint (null if
  /// the module has none) and its number.
  Class of(const Metadata *Scope) {
    auto [It, New] = Scopes.try_emplace(Scope, nullptr, Unknown);
    if (!New)
      return It->second;
    auto *N = dyn_cast_or_null<MDNode>(Scope);
    if (!N || N->getNumOperands() < 2)
      return It->second;
    auto *Name = dyn_cast_or_null<MDString>(N->getOperand(0));
    auto *Domain = dyn_cast_or_null<MDNode>(N->getOperand(1));
    auto *Print = Domain && Domain->getNumOperands()
                      ? dyn_cast_or_null<MDString>(Domain->getOperand(0))
                      : nullptr;
    if (!Name || !Print)
      return It->second;
    auto Found = ByDomain.find(Print->getString());
    if (Found == ByDomain.end())
      return It->second;
    unsigned Number = Unknown;
    StringRef Rest = Name->getString();
    if (!Rest.consume_front(Print->getString()) || !Rest.consume_front(":") ||
        Rest.getAsInteger(10, Number) || Number >= Unknown)
      Number = Unknown;
    return It->second = {&Found->second, Number};
  }

  static bool mayAlias(const Table &T, unsigned A, unsigned B) {
    if (A < B)
      std::swap(A, B);
    auto Found = T.find(A);
    if (A == B || Found == T.end())
      return true;
    const Row &R = Found->second;
    return (!R.empty() && R.back() >= Unknown) || llvm::binary_search(R, B);
  }

  bool apartIn(const Table &T, const MDNode *A, const MDNode *B) {
    bool Any = false;
    for (const MDOperand &OpB : B->operands()) {
      Class Right = of(OpB.get());
      if (Right.first != &T)
        continue;
      Any = true;
      for (const MDOperand &OpA : A->operands()) {
        Class Left = of(OpA.get());
        if (Left.first == &T && mayAlias(T, Left.second, Right.second))
          return false;
      }
    }
    return Any;
  }

  StringMap<Table> ByDomain;
  DenseMap<const Metadata *, Class> Scopes;
};

/// Reads the relations of a module once.
class RelationsAnalysis : public AnalysisInfoMixin<RelationsAnalysis> {
  friend AnalysisInfoMixin<RelationsAnalysis>;
  static AnalysisKey Key;

public:
  struct Result {
    Relations Of;
    bool invalidate(Module &, const PreservedAnalyses &,
                    ModuleAnalysisManager::Invalidator &) {
      return false;
    }
  };
  Result run(Module &M, ModuleAnalysisManager &) { return {Relations(M)}; }
};
AnalysisKey RelationsAnalysis::Key;

/// The answers of the relation, with the interface of ScopedNoAliasAAResult.
class ClassesAAResult : public AAResultBase {
  Relations *Of;

public:
  explicit ClassesAAResult(Relations *Of) : Of(Of) {}
  bool invalidate(Function &, const PreservedAnalyses &,
                  FunctionAnalysisManager::Invalidator &) {
    return false;
  }

  AliasResult alias(const MemoryLocation &A, const MemoryLocation &B,
                    AAQueryInfo &, const Instruction *) {
    return Of && (Related.are(A, B) ||
                  Of->apart(A.AATags.Scope, B.AATags.Scope))
               ? AliasResult::NoAlias
               : AliasResult::MayAlias;
  }
  ModRefInfo getModRefInfo(const CallBase *Call, const MemoryLocation &Loc,
                           AAQueryInfo &) {
    return Of && Of->apart(Call->getMetadata(LLVMContext::MD_alias_scope),
                           Loc.AATags.Scope)
               ? ModRefInfo::NoModRef
               : ModRefInfo::ModRef;
  }
  ModRefInfo getModRefInfo(const CallBase *A, const CallBase *B,
                           AAQueryInfo &) {
    return Of && Of->apart(A->getMetadata(LLVMContext::MD_alias_scope),
                           B->getMetadata(LLVMContext::MD_alias_scope))
               ? ModRefInfo::NoModRef
               : ModRefInfo::ModRef;
  }
};

class ClassesAA : public AnalysisInfoMixin<ClassesAA> {
  friend AnalysisInfoMixin<ClassesAA>;
  static AnalysisKey Key;
  ModuleAnalysisManager **MAM;

public:
  using Result = ClassesAAResult;
  explicit ClassesAA(ModuleAnalysisManager **MAM) : MAM(MAM) {}
  Result run(Function &F, FunctionAnalysisManager &) {
    if (!*MAM)
      return Result(nullptr);
    Relations &Of = (*MAM)->getResult<RelationsAnalysis>(*F.getParent()).Of;
    return Result(Of.empty() ? nullptr : &Of);
  }
};
AnalysisKey ClassesAA::Key;

//===-- What tags are worth -----------------------------------------------===//

/// Returns the name of a type node: its first string, in either format.
StringRef typeName(const Metadata *Type) {
  if (auto *N = dyn_cast_or_null<MDNode>(Type))
    for (const MDOperand &Op : N->operands())
      if (auto *Name = dyn_cast_or_null<MDString>(Op.get()))
        return Name->getString();
  return "";
}

/// Returns a tag's name, by which another run of LLVM can find it:
/// `base+offset:access`.
std::string tagName(const MDNode *Tag) {
  if (!Tag)
    return "";
  if (Tag->getNumOperands() < 3 || !isa_and_nonnull<MDNode>(Tag->getOperand(0)))
    return typeName(Tag).str();
  auto *Offset = mdconst::dyn_extract_or_null<ConstantInt>(Tag->getOperand(2));
  return (typeName(Tag->getOperand(0)) + "+" +
          (Offset ? toString(Offset->getValue(), 10, false) : "?") + ":" +
          typeName(Tag->getOperand(1)))
      .str();
}

/// The state that all functions of one run share. Environment variables name its
/// files:
///
/// TBAA_WORTH_ALLOW is read. It lists the answers that may be given. A line is
/// FUNCTION, TAG, TAG, separated by tabs. The tags are in the order of their
/// bytes; the second is empty for an answer about one tag alone. If a function has
/// a line, all answers that are not listed for it are denied; a line may be
/// FUNCTION alone. The function `*` means all functions without a line.
///
/// TBAA_WORTH_CODE gets a JSON object for each function from `tbaa-measure`.
/// TBAA_WORTH_ASKED gets one for each function, pass, pair of tags and answer.
/// TBAA_ASKED gets each pair of tags and its answer as nodes, as LLVM text.
///
/// TBAA_WATCH, if it is set, replaces LLVM's type-based analysis by `tbaa-worth`.
/// It is for `clang`, where no pipeline of analyses can be chosen.
class Worth {
public:
  enum Answer { MayAlias, NoAlias, Constant, Denied };
  std::string Pass;

  Worth() {
    auto path = [](const char *Variable) {
      const char *Path = std::getenv(Variable);
      return std::string(Path ? Path : "");
    };
    Code = path("TBAA_WORTH_CODE");
    Asked = path("TBAA_WORTH_ASKED");
    Nodes = path("TBAA_ASKED");
    if (!path("TBAA_WATCH").empty()) {
      auto &Options = cl::getRegisteredOptions();
      auto Found = Options.find("enable-tbaa");
      if (Found == Options.end())
        fail("LLVM has no option -enable-tbaa");
      Types = static_cast<cl::opt<bool> *>(Found->second);
      Types->setValue(false);
    }
    std::string Path = path("TBAA_WORTH_ALLOW");
    if (Path.empty())
      return;
    auto File = MemoryBuffer::getFile(Path);
    if (!File)
      fail("cannot read " + Path + ": " + File.getError().message());
    SmallVector<StringRef, 0> Lines;
    (*File)->getBuffer().split(Lines, '\n', -1, false);
    for (StringRef Line : Lines) {
      auto [Function, Tags] = Line.split('\t');
      Allow[Function].insert(Tags);
    }
  }

  ~Worth() {
    if (!Code.empty()) {
      auto OS = open(Code);
      for (const json::Value &M : Measures)
        *OS << M << '\n';
    }
    if (!Asked.empty())
      writeAsked();
    if (!Nodes.empty())
      writeNodes();
  }

  /// Records a question. Returns whether its answer, if not MayAlias, is given.
  bool record(const Function &F, const MDNode *A, const MDNode *B,
              Answer Given) {
    if (Given != MayAlias && !allows(F.getName(), A, B))
      Given = Denied;
    if (!Asked.empty() || !Nodes.empty())
      ++Questions[{F.getName().str(), Pass, A, B, Given}];
    return Given == NoAlias || Given == Constant;
  }

  /// Returns whether LLVM's type-based analysis is off, except while `tbaa-worth`
  /// asks it.
  bool watches() const { return Types; }
  void switchTypes(bool On) {
    if (Types)
      Types->setValue(On);
  }

  void measure(json::Value M) { Measures.push_back(std::move(M)); }

private:
  struct Question {
    std::string Function, Pass;
    const MDNode *A, *B;
    Answer Given;
    auto key() const { return std::tie(Function, Pass, A, B, Given); }
    bool operator<(const Question &Q) const { return key() < Q.key(); }
  };

  static StringRef name(Answer A) {
    constexpr StringLiteral Names[] = {"MayAlias", "NoAlias", "constant",
                                       "denied"};
    return Names[A];
  }

  [[noreturn]] static void fail(const Twine &Why) {
    report_fatal_error("tbaa-plugin: " + Why, /*GenCrashDiag=*/false);
  }

  static std::unique_ptr<raw_fd_ostream> open(const std::string &Path) {
    std::error_code Error;
    auto OS = std::make_unique<raw_fd_ostream>(Path, Error);
    if (Error)
      fail("cannot write " + Path + ": " + Error.message());
    return OS;
  }

  bool allows(StringRef Function, const MDNode *A, const MDNode *B) const {
    auto Lines = Allow.find(Function);
    if (Lines == Allow.end())
      Lines = Allow.find("*");
    if (Lines == Allow.end())
      return true;
    std::string Left = tagName(A), Right = tagName(B);
    if (B && Right < Left)
      std::swap(Left, Right);
    return Lines->second.contains(Left + "\t" + Right);
  }

  void writeAsked() {
    auto OS = open(Asked);
    for (const auto &[Q, Count] : Questions) {
      std::string Left = tagName(Q.A), Right = tagName(Q.B);
      if (Q.B && Right < Left)
        std::swap(Left, Right);
      *OS << json::Value(json::Object{{"function", Q.Function},
                                      {"pass", Q.Pass},
                                      {"a", Left},
                                      {"b", Right},
                                      {"answer", name(Q.Given)},
                                      {"count", int64_t(Count)}})
          << '\n';
    }
  }

  /// Writes a module without functions. Its named metadata `tbaa.asked` lists
  /// each pair of tags, LLVM's answer, and how often it was asked.
  void writeNodes() {
    auto OS = open(Nodes);
    MapVector<std::tuple<const MDNode *, const MDNode *, unsigned>, uint64_t> Pairs;
    for (const auto &[Q, Count] : Questions)
      if (Q.A && Q.B && Q.Given <= NoAlias)
        Pairs[{Q.A, Q.B, Q.Given}] += Count;
    if (Pairs.empty())
      return;
    LLVMContext &Context = std::get<0>(Pairs.begin()->first)->getContext();
    Module Text("asked", Context);
    NamedMDNode *Named = Text.getOrInsertNamedMetadata("tbaa.asked");
    Type *I64 = Type::getInt64Ty(Context);
    for (const auto &[Pair, Count] : Pairs) {
      auto [A, B, Given] = Pair;
      Named->addOperand(MDNode::get(
          Context, {const_cast<MDNode *>(A), const_cast<MDNode *>(B),
                    MDString::get(Context, name(Answer(Given))),
                    ConstantAsMetadata::get(ConstantInt::get(I64, Count))}));
    }
    Text.print(*OS, nullptr);
  }

  cl::opt<bool> *Types = nullptr;
  std::string Code, Asked, Nodes;
  StringMap<StringSet<>> Allow;
  MapVector<Question, uint64_t, std::map<Question, unsigned>> Questions;
  std::vector<json::Value> Measures;
};

/// LLVM's own type-based analysis, with its answers recorded.
class WorthAAResult : public AAResultBase {
  /// Switches LLVM's analysis on for one question.
  struct Asking {
    Worth &To;
    explicit Asking(Worth &To) : To(To) { To.switchTypes(true); }
    ~Asking() { To.switchTypes(false); }
  };

  TypeBasedAAResult LLVM;
  Function &F;
  Worth &To;

public:
  WorthAAResult(Function &F, Worth &To) : LLVM(false), F(F), To(To) {}
  bool invalidate(Function &, const PreservedAnalyses &,
                  FunctionAnalysisManager::Invalidator &) {
    return false;
  }

  AliasResult alias(const MemoryLocation &A, const MemoryLocation &B,
                    AAQueryInfo &AAQI, const Instruction *At) {
    if (Watched.are(A, B))
      return AliasResult::NoAlias;
    Asking Now(To);
    AliasResult R = LLVM.alias(A, B, AAQI, At);
    return isNoModRef(pair(R == AliasResult::NoAlias ? ModRefInfo::NoModRef
                                                     : ModRefInfo::ModRef,
                           A.AATags.TBAA, B.AATags.TBAA))
               ? AliasResult::NoAlias
               : AliasResult::MayAlias;
  }
  AliasResult aliasErrno(const MemoryLocation &Loc, const Module *M) {
    Asking Now(To);
    AliasResult R = LLVM.aliasErrno(Loc, M);
    return R == AliasResult::NoAlias &&
                   To.record(F, Loc.AATags.TBAA, nullptr, Worth::NoAlias)
               ? AliasResult::NoAlias
               : AliasResult::MayAlias;
  }
  ModRefInfo getModRefInfo(const CallBase *Call, const MemoryLocation &Loc,
                           AAQueryInfo &AAQI) {
    Asking Now(To);
    return pair(LLVM.getModRefInfo(Call, Loc, AAQI), tag(Call),
                Loc.AATags.TBAA);
  }
  ModRefInfo getModRefInfo(const CallBase *A, const CallBase *B,
                           AAQueryInfo &AAQI) {
    Asking Now(To);
    return pair(LLVM.getModRefInfo(A, B, AAQI), tag(A), tag(B));
  }
  ModRefInfo getModRefInfoMask(const MemoryLocation &Loc, AAQueryInfo &AAQI,
                               bool IgnoreLocals) {
    Asking Now(To);
    ModRefInfo R = LLVM.getModRefInfoMask(Loc, AAQI, IgnoreLocals);
    return isModSet(R) ||
                   To.record(F, Loc.AATags.TBAA, nullptr, Worth::Constant)
               ? R
               : ModRefInfo::ModRef;
  }
  using AAResultBase::getMemoryEffects;
  MemoryEffects getMemoryEffects(const CallBase *Call, AAQueryInfo &AAQI) {
    Asking Now(To);
    MemoryEffects R = LLVM.getMemoryEffects(Call, AAQI);
    return R == MemoryEffects::unknown() ||
                   To.record(F, tag(Call), nullptr, Worth::Constant)
               ? R
               : MemoryEffects::unknown();
  }

private:
  static const MDNode *tag(const CallBase *Call) {
    return Call->getMetadata(LLVMContext::MD_tbaa);
  }
  ModRefInfo pair(ModRefInfo R, const MDNode *A, const MDNode *B) {
    if (!A || !B)
      return R;
    return To.record(F, A, B, isNoModRef(R) ? Worth::NoAlias : Worth::MayAlias)
               ? ModRefInfo::NoModRef
               : ModRefInfo::ModRef;
  }
};

class WorthAA : public AnalysisInfoMixin<WorthAA> {
  friend AnalysisInfoMixin<WorthAA>;
  static AnalysisKey Key;
  std::shared_ptr<Worth> To;

public:
  using Result = WorthAAResult;
  explicit WorthAA(std::shared_ptr<Worth> To) : To(std::move(To)) {}
  Result run(Function &F, FunctionAnalysisManager &) { return Result(F, *To); }
};
AnalysisKey WorthAA::Key;

/// Measures a function: counts of instructions, a cost weighted by how often LLVM
/// expects each block to run, and a hash of the code without metadata.
class MeasurePass : public PassInfoMixin<MeasurePass> {
  std::shared_ptr<Worth> To;

public:
  explicit MeasurePass(std::shared_ptr<Worth> To) : To(std::move(To)) {}
  static bool isRequired() { return true; }

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &FAM) {
    auto &Blocks = FAM.getResult<BlockFrequencyAnalysis>(F);
    auto &Target = FAM.getResult<TargetIRAnalysis>(F);
    auto &Loops = FAM.getResult<LoopAnalysis>(F);
    int64_t Instructions = 0, Loads = 0, Stores = 0;
    double Cost = 0;
    double Entry = Blocks.getBlockFreq(&F.getEntryBlock()).getFrequency();
    SmallPtrSet<const Loop *, 8> Vector;
    std::map<std::string, int64_t> Lines;
    StringSet<> Inlined;
    MD5 Hash;
    DenseMap<const Value *, unsigned> Numbers;
    for (const BasicBlock &B : F) {
      double Frequency = Blocks.getBlockFreq(&B).getFrequency() / Entry;
      for (const Instruction &I : B) {
        if (I.isDebugOrPseudoInst())
          continue;
        if (const DILocation *At = I.getDebugLoc())
          for (; At->getInlinedAt(); At = At->getInlinedAt())
            Inlined.insert(nameOf(*At->getScope()->getSubprogram()));
        ++Instructions;
        auto Price = Target.getInstructionCost(
            &I, TargetTransformInfo::TCK_RecipThroughput);
        if (Price.isValid())
          Cost += Frequency * double(Price.getValue());
        Stores += isa<StoreInst>(I);
        if (isa<LoadInst>(I)) {
          ++Loads;
          ++Lines[line(I)];
        }
        if (const Loop *L = Loops.getLoopFor(&B))
          if (I.mayReadOrWriteMemory() && handlesVector(I))
            Vector.insert(L);
        Hash.update(text(I, Numbers));
      }
    }
    MD5::MD5Result Sum;
    Hash.final(Sum);
    json::Object PerLine;
    for (auto &[Line, Count] : Lines)
      PerLine[Line] = Count;
    json::Value Callees = nullptr;
    if (F.getSubprogram()) {
      std::vector<std::string> Names;
      for (const auto &Entry : Inlined)
        Names.push_back(Entry.getKey().str());
      llvm::sort(Names);
      Callees = json::Array(Names);
    }
    To->measure(json::Object{{"measured", F.getName()},
                             {"inlined", std::move(Callees)},
                             {"code", Sum.digest()},
                             {"instructions", Instructions},
                             {"loads", Loads},
                             {"stores", Stores},
                             {"vector loops", int64_t(Vector.size())},
                             {"cost", Cost},
                             {"lines", std::move(PerLine)}});
    return PreservedAnalyses::all();
  }

private:
  static StringRef nameOf(const DISubprogram &Of) {
    return Of.getLinkageName().empty() ? Of.getName() : Of.getLinkageName();
  }

  static std::string line(const Instruction &I) {
    const DILocation *At = I.getDebugLoc();
    return At ? (At->getFilename() + ":" + Twine(At->getLine())).str() : "";
  }

  static bool handlesVector(const Instruction &I) {
    return I.getType()->isVectorTy() ||
           (isa<StoreInst>(I) && I.getOperand(0)->getType()->isVectorTy());
  }

  /// Returns an instruction's text, with numbers for values, and without names
  /// and metadata.
  static std::string text(const Instruction &I,
                          DenseMap<const Value *, unsigned> &Numbers) {
    auto number = [&](const Value *V) {
      return Numbers.try_emplace(V, Numbers.size()).first->second;
    };
    std::string Text;
    raw_string_ostream OS(Text);
    OS << '\n' << number(I.getParent()) << ' ' << number(&I) << ' '
       << I.getOpcodeName() << ' ' << *I.getType() << ' '
       << I.getRawSubclassOptionalData();
    if (auto *Compare = dyn_cast<CmpInst>(&I))
      OS << ' ' << Compare->getPredicate();
    for (const Value *Op : I.operand_values())
      if (auto *C = dyn_cast<Constant>(Op))
        C->printAsOperand(OS << ' ', true, I.getModule());
      else if (!isa<MetadataAsValue>(Op))
        OS << ' ' << number(Op);
    if (auto *Phi = dyn_cast<PHINode>(&I))
      for (const BasicBlock *From : Phi->blocks())
        OS << ' ' << number(From);
    return Text;
  }
};

//===-- Registration ------------------------------------------------------===//

/// The managers of one PassBuilder.
struct Managers {
  ModuleAnalysisManager *MAM = nullptr;
  FunctionAnalysisManager *FAM = nullptr;
};

/// Adds `tbaa-classes` to a function's alias analyses if the module has a relation,
/// and `tbaa-worth` if TBAA_WATCH is set, unless they are already there.
void attach(Function &F, const Managers &Of, const Worth &To) {
  if (F.isDeclaration() || !Of.MAM || !Of.FAM)
    return;
  bool Relates =
      !Of.MAM->getResult<RelationsAnalysis>(*F.getParent()).Of.empty();
  if (!Relates && !To.watches())
    return;
  AAResults &AA = Of.FAM->getResult<AAManager>(F);
  LLVMContext &Context = F.getContext();
  if (Relates && !Related.isAnsweredBy(AA, Context)) {
    AA.addAAResult(Of.FAM->getResult<ClassesAA>(F));
    AA.addAADependencyID(ClassesAA::ID());
  }
  if (To.watches() && !Watched.isAnsweredBy(AA, Context)) {
    AA.addAAResult(Of.FAM->getResult<WorthAA>(F));
    AA.addAADependencyID(WorthAA::ID());
  }
}

} // namespace

void tbaa::registerTbaa(PassBuilder &PB) {
  auto Of = std::make_shared<Managers>();
  auto To = std::make_shared<Worth>();
  PB.registerAnalysisRegistrationCallback([Of](ModuleAnalysisManager &MAM) {
    Of->MAM = &MAM;
    MAM.registerPass([] { return RelationsAnalysis(); });
  });
  PB.registerAnalysisRegistrationCallback([Of, To](FunctionAnalysisManager &FAM) {
    Of->FAM = &FAM;
    FAM.registerPass([Of] { return ClassesAA(&Of->MAM); });
    FAM.registerPass([To] { return WorthAA(To); });
  });
  PB.registerParseAACallback([](StringRef Name, AAManager &AA) {
    if (Name == "tbaa-classes")
      AA.registerFunctionAnalysis<ClassesAA>();
    else if (Name == "tbaa-worth")
      AA.registerFunctionAnalysis<WorthAA>();
    else
      return false;
    return true;
  });
  PB.registerPipelineParsingCallback(
      [To](StringRef Name, FunctionPassManager &FPM, ArrayRef<PassBuilder::PipelineElement>) {
        if (Name != "tbaa-measure")
          return false;
        FPM.addPass(MeasurePass(To));
        return true;
      });
  // A plugin cannot replace the default AAManager, but can add to its results.
  if (PassInstrumentationCallbacks *PIC = PB.getPassInstrumentationCallbacks())
    PIC->registerBeforeNonSkippedPassCallback([Of, To](StringRef Pass, Any IR) {
      To->Pass = Pass;
      if (auto *F = any_cast<const Function *>(&IR))
        attach(const_cast<Function &>(**F), *Of, *To);
      else if (auto *SCC = any_cast<const LazyCallGraph::SCC *>(&IR))
        for (LazyCallGraph::Node &N : const_cast<LazyCallGraph::SCC &>(**SCC))
          attach(N.getFunction(), *Of, *To);
    });
}

extern "C" char *tbaa_run_passes(LLVMModuleRef M, const char *Passes,
                                 LLVMTargetMachineRef Machine) {
  LoopAnalysisManager LAM;
  FunctionAnalysisManager FAM;
  CGSCCAnalysisManager CGAM;
  ModuleAnalysisManager MAM;
  PassInstrumentationCallbacks PIC;
  PassBuilder PB(reinterpret_cast<TargetMachine *>(Machine),
                 PipelineTuningOptions(), std::nullopt, &PIC);
  tbaa::registerTbaa(PB);
  PB.registerModuleAnalyses(MAM);
  PB.registerCGSCCAnalyses(CGAM);
  PB.registerFunctionAnalyses(FAM);
  PB.registerLoopAnalyses(LAM);
  PB.crossRegisterProxies(LAM, FAM, CGAM, MAM);
  ModulePassManager MPM;
  if (Error E = PB.parsePassPipeline(MPM, Passes))
    return LLVMCreateMessage(toString(std::move(E)).c_str());
  MPM.run(*unwrap(M), MAM);
  return nullptr;
}

#ifndef TBAA_PLUGIN_STATIC
extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "tbaa", TBAA_PLUGIN_VERSION,
          tbaa::registerTbaa};
}
#endif
