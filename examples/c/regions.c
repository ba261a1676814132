/* The memory of a WebAssembly runtime, which is not only C's records: a linear memory, memories
 * that may be one object, a table, an array of numbers, a record whose members the runtime places,
 * and structs and unions without names. Prints the loads before and after -O2.
 *
 *     cc regions.c $(pkg-config --cflags --libs tbaa) \
 *         $(llvm-config-22 --cflags --ldflags --libs)
 */
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <tbaa-llvm.h>

typedef struct Cell {
    int kind;
    union {
        double number;
        void *object;
    };
    struct {
        long count;
    } uses;
} Cell;

static void must(tbaa_status status) {
    if (status == TBAA_STATUS_OK)
        return;
    tbaa_str why = tbaa_last_error();
    fprintf(stderr, "%.*s\n", (int)why.len, why.data);
    exit(1);
}

static void declare(tbaa_context *types) {
    /* Regions: bytes that hold anything, at any alignment, and elements of one type. */
    must(tbaa_declare_region(types, tbaa_cstr("memory 0"), tbaa_cstr("")));
    must(tbaa_declare_region(types, tbaa_cstr("table 0"), tbaa_cstr("void *")));
    must(tbaa_declare_region(types, tbaa_cstr("numbers"), tbaa_cstr("double")));
    /* Imports may be one object: a region with several names. */
    must(tbaa_declare_region(types, tbaa_cstr("imported memories"), tbaa_cstr("")));
    must(tbaa_declare_alias(types, tbaa_cstr("memory 1"), tbaa_cstr("imported memories")));
    must(tbaa_declare_alias(types, tbaa_cstr("memory 2"), tbaa_cstr("imported memories")));
    /* Members of which the runtime knows offset, size and name. */
    static const tbaa_record_member slots[] = {
        TBAA_SLOT("memory 0 length", 1304, 8),
        TBAA_SLOT("memory 0 base", 1312, 8),
    };
    static const tbaa_record vm = {TBAA_STR("VMContext"), slots, 2, 1320, 8, 0};
    must(tbaa_declare(types, &vm));
    /* A struct without a name, and a union whose members are those of the struct around it. */
    static const tbaa_record_member uses[] = {TBAA_NESTED_MEMBER(Cell, uses, count, "long")};
    static const tbaa_record_member cell[] = {
        TBAA_MEMBER(Cell, kind, "int"),
        TBAA_MEMBER(Cell, number, "double"),
        TBAA_UNION_MEMBER(Cell, object, "void *"),
        TBAA_MEMBER(Cell, uses, "Cell.uses"),
    };
    static const tbaa_record records[] = {
        TBAA_NESTED_RECORD(Cell, uses, uses, 0),
        TBAA_RECORD(Cell, cell, 0),
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        must(tbaa_declare(types, &records[i]));
}

enum { LENGTH, BASE, MEMORY, IMPORT, OTHER, TABLE, NUMBERS, KIND, OBJECT, COUNT, PLACES };
static const tbaa_str paths[PLACES] = {
    TBAA_STR("VMContext.memory 0 length"),
    TBAA_STR("VMContext.memory 0 base"),
    TBAA_STR("*memory 0"),
    TBAA_STR("*memory 1"),
    TBAA_STR("*memory 2"),
    TBAA_STR("*table 0"),
    TBAA_STR("*numbers"),
    TBAA_STR("Cell.kind"),
    TBAA_STR("Cell.object"),
    TBAA_STR("Cell.uses.count"),
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
    tbaa_options options = tbaa_options_for_llvm();
    tbaa_context *types;
    must(tbaa_context_new(&options, &types));
    declare(types);
    tbaa_tagged places[PLACES];
    must(tbaa_places(types, paths, PLACES, places));

    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("wasm", context);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(context), pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef parameters[] = {pointer, pointer, pointer, pointer, pointer, pointer};
    LLVMValueRef function =
        LLVMAddFunction(module, "f", LLVMFunctionType(i64, parameters, 6, 0));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(context, function, "entry"));
    tbaa_sink sink = tbaa_llvm_sink(context);
    tbaa_emitter *emitter;
    must(tbaa_emitter_new(&sink, &emitter));

    /* Where each load begins: at a parameter of the function. */
    static const struct {
        int place, parameter;
    } loaded[] = {{LENGTH, 0}, {BASE, 0}, {TABLE, 2}, {OTHER, 4}, {KIND, 5}, {COUNT, 5}};
    LLVMValueRef sum = LLVMConstInt(i64, 0, 0);
    for (unsigned step = 0; step < 4; step++) {
        LLVMValueRef values[6], store;
        for (int i = 0; i < 6; i++) {
            const tbaa_tagged *place = &places[loaded[i].place];
            LLVMTypeRef type = loaded[i].place == KIND ? LLVMInt32TypeInContext(context) : i64;
            values[i] = LLVMBuildLoad2(
                b, type, at(b, LLVMGetParam(function, loaded[i].parameter), place->place.offset), "");
            if (!place->place.aligned)
                LLVMSetAlignment(values[i], 1);
            must(tbaa_llvm_tag(emitter, place, values[i]));
            sum = LLVMBuildAdd(b, sum, LLVMBuildZExt(b, values[i], i64, ""), "");
        }
        /* An unaligned value in the linear memory. */
        LLVMValueRef memory = LLVMBuildIntToPtr(b, values[1], pointer, "");
        store = LLVMBuildStore(b, LLVMConstInt(i64, step, 0), at(b, memory, 8 * step + 3));
        LLVMSetAlignment(store, 1);
        must(tbaa_llvm_tag(emitter, &places[MEMORY], store));
        store = LLVMBuildStore(b, LLVMConstReal(LLVMDoubleTypeInContext(context), 1.0),
                               at(b, LLVMGetParam(function, 1), 8 * step));
        must(tbaa_llvm_tag(emitter, &places[NUMBERS], store));
        store = LLVMBuildStore(b, LLVMConstReal(LLVMFloatTypeInContext(context), 0.0),
                               LLVMGetParam(function, 3));
        must(tbaa_llvm_tag(emitter, &places[IMPORT], store));
        store = LLVMBuildStore(
            b, LLVMGetParam(function, 1),
            at(b, LLVMGetParam(function, 5), sizeof(Cell) + places[OBJECT].place.offset));
        must(tbaa_llvm_tag(emitter, &places[OBJECT], store));
    }
    LLVMBuildRet(b, sum);

    /* All but those of the second import, which may be the first, are loaded once. */
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
