// libtbaa's tags in a module that C++ builds, and the same metadata by hand with
// llvm::MDBuilder: they are the same nodes.
//
//     c++ metadata.cpp $(pkg-config --cflags --libs tbaa) $(llvm-config-22 --cxxflags --ldflags --libs core)
#include <cstdio>
#include <cstdlib>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <tbaa-llvm.h>

struct TValue {
    double n;
    short tt;
};

struct CallInfo {
    TValue *func;
    TValue *base;
    int status;
};

static void must(tbaa_status status) {
    if (status == TBAA_STATUS_OK)
        return;
    tbaa_str why = tbaa_last_error();
    std::fprintf(stderr, "%.*s\n", static_cast<int>(why.len), why.data);
    std::exit(1);
}

static void declare(tbaa_context *types) {
    static const tbaa_record_member tvalue[] = {
        TBAA_MEMBER(TValue, n, "double"),
        TBAA_MEMBER(TValue, tt, "short"),
    };
    static const tbaa_record_member call_info[] = {
        TBAA_MEMBER(CallInfo, func, "TValue *"),
        TBAA_MEMBER(CallInfo, base, "TValue *"),
        TBAA_MEMBER(CallInfo, status, "int"),
    };
    static const tbaa_record records[] = {
        TBAA_RECORD(TValue, tvalue, 0),
        TBAA_RECORD(CallInfo, call_info, 0),
    };
    for (const tbaa_record &record : records)
        must(tbaa_declare(types, &record));
}

int main() {
    tbaa_context *types;
    must(tbaa_context_new(nullptr, &types)); // clang's policy, for LLVM
    declare(types);

    llvm::LLVMContext context;
    llvm::Module module("example", context);
    llvm::IRBuilder<> b(context);
    auto *function = llvm::Function::Create(
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
        llvm::Function::ExternalLinkage, "store_number", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));

    tbaa_sink sink = tbaa_llvm_sink(llvm::wrap(&context));
    tbaa_emitter *emitter;
    must(tbaa_emitter_new(&sink, &emitter));
    const tbaa_oracle *oracle = tbaa_context_oracle(types);
    auto attach = [&](llvm::Instruction *instruction, const char *path) {
        tbaa_tag tag;
        must(tbaa_tag_of(types, tbaa_cstr(path), &tag));
        tbaa_attachments nodes;
        must(tbaa_emit_access(emitter, oracle, tbaa_access(tag, TBAA_EFFECT_BOTH), &nodes));
        tbaa_llvm_attach(llvm::wrap(instruction), &nodes);
        return instruction;
    };

    // ci->base->n = 1.0; ci->base->tt = 3;
    llvm::Value *ci = function->getArg(0);
    auto field = [&](llvm::Value *object, size_t offset) {
        return b.CreatePtrAdd(object, b.getInt64(offset));
    };
    auto *base = attach(b.CreateLoad(b.getPtrTy(), field(ci, offsetof(CallInfo, base))),
                        "CallInfo.base");
    auto *number = attach(
        b.CreateStore(llvm::ConstantFP::get(b.getDoubleTy(), 1.0), field(base, offsetof(TValue, n))),
        "TValue.n");
    auto *tt = attach(b.CreateStore(b.getInt16(3), field(base, offsetof(TValue, tt))), "TValue.tt");
    b.CreateRetVoid();

    // The same by hand.
    llvm::MDBuilder md(context);
    auto *root = md.createTBAARoot("Simple C/C++ TBAA");
    auto *chars = md.createTBAAScalarTypeNode("omnipotent char", root);
    auto *any_pointer = md.createTBAAScalarTypeNode("any pointer", chars);
    auto *tvalue_pointer = md.createTBAAScalarTypeNode("p1 _ZTS6TValue", any_pointer);
    auto *doubles = md.createTBAAScalarTypeNode("double", chars);
    auto *shorts = md.createTBAAScalarTypeNode("short", chars);
    auto *ints = md.createTBAAScalarTypeNode("int", chars);
    auto *tvalue = md.createTBAAStructTypeNode("TValue", {{doubles, 0}, {shorts, 8}});
    auto *call_info = md.createTBAAStructTypeNode(
        "CallInfo", {{tvalue_pointer, 0}, {tvalue_pointer, 8}, {ints, 16}});
    const struct {
        const llvm::Instruction *instruction;
        llvm::MDNode *by_hand;
    } pairs[] = {
        {base, md.createTBAAStructTagNode(call_info, tvalue_pointer, 8)},
        {number, md.createTBAAStructTagNode(tvalue, doubles, 0)},
        {tt, md.createTBAAStructTagNode(tvalue, shorts, 8)},
    };

    bool same = true;
    for (const auto &[instruction, by_hand] : pairs) {
        llvm::MDNode *ours = instruction->getMetadata(llvm::LLVMContext::MD_tbaa);
        llvm::outs() << "libtbaa:   ";
        ours->print(llvm::outs(), &module);
        llvm::outs() << "\nMDBuilder: ";
        by_hand->print(llvm::outs(), &module);
        llvm::outs() << (ours == by_hand ? "\nthe same node\n\n" : "\nDIFFERENT NODES\n\n");
        same &= ours == by_hand;
    }
    same &= !llvm::verifyModule(module, &llvm::errs());
    module.print(llvm::outs(), nullptr);

    tbaa_emitter_free(emitter);
    tbaa_context_free(types);
    return same ? 0 : 1;
}
