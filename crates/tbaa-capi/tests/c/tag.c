/* Tags a module that has no tags, with one call before the passes. */
#include "check.h"
#include <tbaa-llvm.h>

static unsigned tagged_in(LLVMModuleRef module) {
    unsigned found = 0;
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "tbaa", 4);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
                if (LLVMGetMetadata(i, kind) != NULL) {
                    CHECK(LLVMGetInstructionOpcode(i) == LLVMStore);
                    found++;
                }
    return found;
}

/* Two functions with a declaration between them: each stores to both members of a struct, from
 * two blocks, and once to an i32 through a plain pointer. */
static LLVMModuleRef made(LLVMContextRef context, const char *layout) {
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("m", context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), members[] = {i32, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, 0);
    LLVMTypeRef list = LLVMStructCreateNamed(context, "List");
    LLVMStructSetBody(list, members, 2, 0);
    LLVMSetDataLayout(module, layout);
    for (int n = 0; n < 3; n++) {
        LLVMValueRef function = LLVMAddFunction(module, n == 1 ? "declared" : "", type);
        if (n == 1)
            continue;
        LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(context, function, "");
        LLVMBasicBlockRef second = LLVMAppendBasicBlockInContext(context, function, "");
        LLVMValueRef p = LLVMGetParam(function, 0), one = LLVMConstInt(i32, 1, 0);
        LLVMPositionBuilderAtEnd(builder, first);
        LLVMBuildStore(builder, one, LLVMBuildStructGEP2(builder, list, p, 0, ""));
        LLVMBuildStore(builder, one, p);
        LLVMBuildBr(builder, second);
        LLVMPositionBuilderAtEnd(builder, second);
        LLVMBuildStore(builder, p, LLVMBuildStructGEP2(builder, list, p, 1, ""));
        LLVMBuildRetVoid(builder);
    }
    LLVMDisposeBuilder(builder);
    return module;
}

int main(void) {
    const char *layout = "e-i64:64-f80:128-n8:16:32:64-S128";
    LLVMContextRef context = LLVMContextCreate();
    tbaa_sink sink = tbaa_llvm_sink(context);
    tbaa_emitter *emitter;
    CHECK_OK(tbaa_emitter_new(&sink, &emitter));

    LLVMModuleRef module = made(context, layout);
    tbaa_text summary;
    CHECK_OK(tbaa_llvm_tag_module(emitter, module, NULL, &summary));
    CHECK(tagged_in(module) == 4);
    CHECK(strcmp(summary.data, "2 no member of a struct\n") == 0);
    tbaa_text_free(&summary);
    LLVMDisposeModule(module);

    /* Options that a front end sets. */
    tbaa_str list = tbaa_cstr("List"), others = tbaa_cstr("Pair,Other");
    tbaa_tagging opaque = {false, NULL, 0, NULL, 0, &list, 1};
    tbaa_tagging all = {true, &list, 1, &others, 1, NULL, 0};
    module = made(context, layout);
    CHECK_OK(tbaa_llvm_tag_module(emitter, module, &opaque, NULL));
    CHECK(tagged_in(module) == 0);
    CHECK_OK(tbaa_llvm_tag_module(emitter, module, &all, NULL));
    CHECK(tagged_in(module) == 6);
    LLVMDisposeModule(module);

    module = made(context, "");
    CHECK_FAILS(tbaa_llvm_tag_module(emitter, module, NULL, NULL), TBAA_STATUS_INVALID_ARGUMENT,
                "no `target datalayout`");
    CHECK_FAILS(tbaa_tag_module(emitter, tbaa_cstr(""), NULL, NULL, NULL, NULL),
                TBAA_STATUS_INVALID_ARGUMENT, "the callback is NULL");
    LLVMDisposeModule(module);
    tbaa_emitter_free(emitter);
    LLVMContextDispose(context);
    puts("ok");
    return 0;
}
