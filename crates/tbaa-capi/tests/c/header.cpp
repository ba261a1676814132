// tbaa.hpp: a load and a store with their tags, and errors that are returned.
#include <cstdio>
#include <cstdlib>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <tbaa.hpp>

struct Table {
    long size;
    int *array;
    union {
        double number;
        void *object;
    };
    struct {
        struct {
            long count;
        } uses;
    } own;
};

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            std::fprintf(stderr, "%d: %s: %s\n", __LINE__, #condition,                           \
                         tbaa::last_error().c_str());                                            \
            std::abort();                                                                        \
        }                                                                                        \
    } while (false)

int main() {
    static const tbaa_record_member members[] = {
        TBAA_MEMBER(Table, size, "long"),
        TBAA_MEMBER(Table, array, "int *"),
        TBAA_MEMBER(Table, number, "double"),
        TBAA_UNION_MEMBER(Table, object, "void *"),
        TBAA_MEMBER(Table, own, "Table.own"),
    };
    static const tbaa_record_member uses[] = {TBAA_NESTED_MEMBER(Table, own.uses, count, "long")};
    static const tbaa_record_member own[] = {
        TBAA_NESTED_MEMBER(Table, own, uses, "Table.own.uses"),
    };
    static const tbaa_record nested[] = {
        TBAA_NESTED_RECORD(Table, own.uses, uses, 0),
        TBAA_NESTED_RECORD(Table, own, own, 0),
    };
    static const tbaa_record table = TBAA_RECORD(Table, members, 0);
    tbaa::context types;
    CHECK(tbaa::make(types) == TBAA_STATUS_OK);
    for (const tbaa_record &record : nested)
        CHECK(tbaa_declare(types.get(), &record) == TBAA_STATUS_OK);
    CHECK(tbaa_declare(types.get(), &table) == TBAA_STATUS_OK);
    tbaa_tagged inner;
    for (const char *path : {"Table.own.uses.count", "Table.number", "Table.object"})
        CHECK(tbaa::place(types, path, inner) == TBAA_STATUS_OK);
    CHECK(inner.place.offset == offsetof(Table, object) && inner.place.align == 8);
    std::vector<tbaa_tagged> places;
    CHECK(tbaa::places(types, {"Table.size", "Table.array"}, places) == TBAA_STATUS_OK);
    tbaa_tagged constant, touching;
    CHECK(tbaa::place(types, "immutable Table.size", constant) == TBAA_STATUS_OK);
    CHECK(tbaa::call(types, {"Table.size"}, {}, touching) == TBAA_STATUS_OK);
    CHECK(tbaa::place(types, "Table.siz", constant) == TBAA_STATUS_PATH);
    CHECK(tbaa::last_error().find("did you mean \"size\"") != std::string::npos);

    llvm::LLVMContext context;
    llvm::Module module("header", context);
    llvm::IRBuilder<> b(context);
    auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    tbaa::tagger tagger;
    CHECK(tagger.make(context) == TBAA_STATUS_OK);
    auto *load = b.CreateLoad(b.getInt64Ty(), function->getArg(0));
    CHECK(tagger.tag(places[0], load) == TBAA_STATUS_OK);
    auto *store = b.CreateStore(load, function->getArg(0));
    CHECK(tagger.tag(constant, store) == TBAA_STATUS_REFUSED);
    CHECK(!store->hasMetadata());
    CHECK(tagger.tag(places[0], store) == TBAA_STATUS_OK);
    auto *call = b.CreateCall(function, {function->getArg(0)});
    CHECK(tagger.tag(touching, call) == TBAA_STATUS_OK);
    CHECK(call->getMetadata(llvm::LLVMContext::MD_tbaa) ==
          load->getMetadata(llvm::LLVMContext::MD_tbaa));
    b.CreateRetVoid();
    CHECK(!llvm::verifyModule(module, &llvm::errs()));
    std::puts("ok");
}
