/* The base of a stack, loaded by each operation, as a Lua compiler does: what tags of
 * the runtime's structs gain. Prints the loads before and after -O2.
 *
 *     cc stack.c $(pkg-config --cflags --libs tbaa) \
 *         $(llvm-config-22 --cflags --ldflags --libs)
 */
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <tbaa-llvm.h>

/* 1. The runtime's structs. */
typedef union Value {
    void *gc;
    double n;
    long long i;
} Value;

typedef struct TValue {
    Value value;
    unsigned short tt;
} TValue;

typedef struct CallInfo {
    TValue *func;
    TValue *base;
} CallInfo;

static const tbaa_record_member value[] = {
    TBAA_MEMBER(Value, gc, "void *"),
    TBAA_MEMBER(Value, n, "double"),
    TBAA_MEMBER(Value, i, "long long"),
};
static const tbaa_record_member tvalue[] = {
    TBAA_MEMBER(TValue, value, "Value"),
    TBAA_MEMBER(TValue, tt, "unsigned short"),
};
static const tbaa_record_member call_info[] = {
    TBAA_MEMBER(CallInfo, func, "TValue *"),
    TBAA_MEMBER(CallInfo, base, "TValue *"),
};
static const tbaa_record records[] = {
    TBAA_RECORD(Value, value, TBAA_RECORD_FLAG_UNION),
    TBAA_RECORD(TValue, tvalue, 0),
    TBAA_RECORD(CallInfo, call_info, 0),
};

static void must(tbaa_status status) {
    if (status == TBAA_STATUS_OK)
        return;
    tbaa_str why = tbaa_last_error();
    fprintf(stderr, "%.*s\n", (int)why.len, why.data);
    exit(1);
}

/* 2. The places that compiled code accesses. */
enum { BASE, NUMBER, TAG, PLACES };
static const tbaa_str paths[PLACES] = {
    TBAA_STR("CallInfo.base"),
    TBAA_STR("TValue.value.n"),
    TBAA_STR("TValue.tt"),
};

static LLVMValueRef at(LLVMBuilderRef b, LLVMValueRef object, uint64_t offset) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(object));
    LLVMValueRef bytes = LLVMConstInt(LLVMInt64TypeInContext(context), offset, 0);
    return LLVMBuildInBoundsGEP2(b, LLVMInt8TypeInContext(context), object, &bytes, 1, "");
}

static unsigned loads(LLVMValueRef function) {
    unsigned count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL;
             i = LLVMGetNextInstruction(i))
            count += LLVMGetInstructionOpcode(i) == LLVMLoad;
    return count;
}

int main(void) {
    tbaa_context *types;
    tbaa_options options = tbaa_options_for_llvm();
    must(tbaa_context_new(&options, &types));
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        must(tbaa_declare(types, &records[i]));
    tbaa_tagged places[PLACES];
    must(tbaa_places(types, paths, PLACES, places));

    /* 3. Code, as ever; each access says its place. */
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("jit", context);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, 0);
    LLVMValueRef function = LLVMAddFunction(module, "f", type);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, function, "entry"));
    tbaa_sink sink = tbaa_llvm_sink(context);
    tbaa_emitter *emitter;
    must(tbaa_emitter_new(&sink, &emitter));
    LLVMValueRef frame = LLVMGetParam(function, 0);
    LLVMValueRef one = LLVMConstReal(LLVMDoubleTypeInContext(context), 1);
    LLVMValueRef number = LLVMConstInt(LLVMInt16TypeInContext(context), 3, 0);
    for (uint64_t slot = 0; slot < 8; slot++) {
        LLVMValueRef base =
            LLVMBuildLoad2(b, pointer, at(b, frame, places[BASE].place.offset), "base");
        must(tbaa_llvm_tag(emitter, &places[BASE], base));
        base = at(b, base, slot * sizeof(TValue));
        LLVMValueRef store = LLVMBuildStore(b, one, at(b, base, places[NUMBER].place.offset));
        must(tbaa_llvm_tag(emitter, &places[NUMBER], store));
        store = LLVMBuildStore(b, number, at(b, base, places[TAG].place.offset));
        must(tbaa_llvm_tag(emitter, &places[TAG], store));
    }
    LLVMBuildRetVoid(b);

    /* 4. LLVM loads the base once. */
    printf("%u loads", loads(function));
    LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "default<O2>", NULL, passes);
    printf(", %u left\n", loads(function));

    LLVMDisposePassBuilderOptions(passes);
    tbaa_emitter_free(emitter);
    tbaa_context_free(types);
    LLVMDisposeBuilder(b);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return error != NULL;
}
