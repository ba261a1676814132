// Asks LLVM itself about types and data layouts.
//
//   types measure FILE   sizes, alignments and offsets of types
//   types layouts FILE   does LLVM accept data layout strings, are they equal
//
// For `measure` the file is a module, then a line `; types`, then one type per
// line. Each is answered by its text and, tab-separated, `unsized`, or
// `BITS STORE ALLOC ABI PREF` (BITS with an `x` after it if scalable), and for
// a struct `SIZE ALIGN PADDED` and its offsets. A type that LLVM rejects is
// answered by `rejected` and the message.
//
// For `layouts` each line has one or two strings, tab-separated. It is answered
// by `rejected` and the message on the first rejected string, or by `equal` or
// `different`; a single string is compared with itself.

#include "llvm/AsmParser/Parser.h"
#include "llvm/AsmParser/SlotMapping.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static void fail(const Twine &Message) {
  errs() << "types: " << Message << '\n';
  exit(2);
}

static void measure(Type *Ty, const DataLayout &DL) {
  Ty->print(outs(), /*IsForDebug=*/false, /*NoDetails=*/true);
  outs() << '\t';
  if (!Ty->isSized()) {
    outs() << "unsized\n";
    return;
  }
  TypeSize Bits = DL.getTypeSizeInBits(Ty);
  outs() << Bits.getKnownMinValue() << (Bits.isScalable() ? "x " : " ")
         << DL.getTypeStoreSize(Ty).getKnownMinValue() << ' '
         << DL.getTypeAllocSize(Ty).getKnownMinValue() << ' '
         << DL.getABITypeAlign(Ty).value() << ' '
         << DL.getPrefTypeAlign(Ty).value();
  if (auto *Struct = dyn_cast<StructType>(Ty)) {
    const StructLayout *Layout = DL.getStructLayout(Struct);
    outs() << '\t' << Layout->getSizeInBytes().getKnownMinValue() << ' '
           << Layout->getAlignment().value() << ' '
           << (Layout->hasPadding() ? "padded" : "dense");
    for (TypeSize Offset : Layout->getMemberOffsets())
      outs() << ' ' << Offset.getKnownMinValue();
  }
  outs() << '\n';
}

static void measureAll(StringRef Text) {
  auto [ModuleText, Types] = Text.split("; types\n");
  LLVMContext Context;
  SMDiagnostic Diagnostic;
  SlotMapping Slots;
  std::unique_ptr<Module> M =
      parseAssemblyString(ModuleText.str(), Diagnostic, Context, &Slots);
  if (!M) {
    Diagnostic.print("types", errs());
    exit(2);
  }
  while (!Types.empty()) {
    StringRef Line;
    std::tie(Line, Types) = Types.split('\n');
    if (Type *Ty = parseType(Line.str(), Diagnostic, *M, &Slots))
      measure(Ty, M->getDataLayout());
    else
      outs() << "rejected\t" << Diagnostic.getMessage() << '\n';
  }
}

static void compareLayouts(StringRef Text) {
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    auto [First, Second] = Line.split('\t');
    if (!Line.contains('\t'))
      Second = First;
    std::optional<DataLayout> Layouts[2];
    bool Good = true;
    for (unsigned I = 0; I != 2 && Good; ++I) {
      Expected<DataLayout> Layout = DataLayout::parse(I ? Second : First);
      Good = static_cast<bool>(Layout);
      if (Good)
        Layouts[I] = *Layout;
      else
        outs() << "rejected\t" << toString(Layout.takeError()) << '\n';
    }
    if (Good)
      outs() << (*Layouts[0] == *Layouts[1] ? "equal\n" : "different\n");
  }
}

int main(int Count, char **Arguments) {
  if (Count != 3)
    fail("usage: types measure|layouts FILE");
  auto Buffer = MemoryBuffer::getFile(Arguments[2]);
  if (!Buffer)
    fail(Buffer.getError().message());
  StringRef Command = Arguments[1];
  if (Command == "measure")
    measureAll((*Buffer)->getBuffer());
  else if (Command == "layouts")
    compareLayouts((*Buffer)->getBuffer());
  else
    fail("unknown command " + Command);
  return 0;
}
