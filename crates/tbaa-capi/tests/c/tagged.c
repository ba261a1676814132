/* Programs that a careful user got wrong, with tbaa-llvm.h. Each either gives the right
 * result, as emitted and after -O2, or is refused with an error that says what to do. If its
 * nodes are attached by force, LLVM miscompiles it. */
#include "check.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdint.h>
#include <tbaa-llvm.h>

typedef struct Proto {
    int size;
    long step;
} Proto;

typedef struct Arena {
    int used;
} Arena;

typedef struct Cons {
    long head;
} Cons;

typedef struct Float {
    double value;
} Float;

static void declare(tbaa_context *types) {
    static const tbaa_record_member proto[] = {
        TBAA_MEMBER(Proto, size, "int"),
        TBAA_MEMBER(Proto, step, "long"),
    };
    static const tbaa_record_member arena[] = {TBAA_MEMBER(Arena, used, "int")};
    static const tbaa_record_member cons[] = {TBAA_MEMBER(Cons, head, "long")};
    static const tbaa_record_member number[] = {TBAA_MEMBER(Float, value, "double")};
    static const tbaa_record records[] = {
        TBAA_RECORD(Proto, proto, 0),
        TBAA_RECORD(Arena, arena, 0),
        TBAA_RECORD(Cons, cons, 0),
        TBAA_RECORD(Float, number, 0),
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        CHECK_OK(tbaa_declare(types, &records[i]));
}

/* A function of two pointers under construction. */
typedef struct Code {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    LLVMValueRef function;
    LLVMTypeRef i64, pointer;
    tbaa_emitter *emitter;
} Code;

static Code code_new(void) {
    Code c;
    c.context = LLVMContextCreate();
    c.module = LLVMModuleCreateWithNameInContext("m", c.context);
    c.b = LLVMCreateBuilderInContext(c.context);
    c.i64 = LLVMInt64TypeInContext(c.context);
    c.pointer = LLVMPointerTypeInContext(c.context, 0);
    LLVMTypeRef parameters[] = {c.pointer, c.pointer};
    c.function = LLVMAddFunction(c.module, "f", LLVMFunctionType(c.i64, parameters, 2, 0));
    LLVMPositionBuilderAtEnd(c.b, LLVMAppendBasicBlockInContext(c.context, c.function, "entry"));
    tbaa_sink sink = tbaa_llvm_sink(c.context);
    CHECK_OK(tbaa_emitter_new(&sink, &c.emitter));
    return c;
}

static LLVMValueRef parameter(const Code *c, unsigned number, uint64_t offset) {
    LLVMValueRef bytes = LLVMConstInt(c->i64, offset, 0);
    return LLVMBuildInBoundsGEP2(c->b, LLVMInt8TypeInContext(c->context),
                                 LLVMGetParam(c->function, number), &bytes, 1, "");
}

static LLVMValueRef number(const Code *c, uint64_t value) { return LLVMConstInt(c->i64, value, 0); }

/* Builds a call of a runtime helper, which returns and does not throw. */
static LLVMValueRef call_helper(const Code *c, const char *name, LLVMTypeRef result) {
    LLVMTypeRef parameters[] = {c->pointer};
    LLVMTypeRef type = LLVMFunctionType(result, parameters, 1, 0);
    LLVMValueRef helper = LLVMGetNamedFunction(c->module, name);
    if (helper == NULL) {
        helper = LLVMAddFunction(c->module, name, type);
        const char *names[] = {"nounwind", "willreturn"};
        for (int i = 0; i < 2; i++)
            LLVMAddAttributeAtIndex(
                helper, LLVMAttributeFunctionIndex,
                LLVMCreateEnumAttribute(
                    c->context, LLVMGetEnumAttributeKindForName(names[i], strlen(names[i])), 0));
    }
    LLVMValueRef arguments[] = {LLVMGetParam(c->function, 0)};
    return LLVMBuildCall2(c->b, type, helper, arguments, 1, "");
}

static uint64_t calls;

/* Reads Proto.step, and increments a counter that nothing else accesses. */
static uint64_t counts(const Proto *proto) { return calls++ + (uint64_t)proto->step; }

/* An arena that takes an object back and returns its memory for another. */
static void *reuses(void *object) { return object; }

/* Compiles, runs and frees the code. Returns what the function returned. */
static uint64_t finish(Code *c, bool optimise) {
    char *errors = NULL;
    CHECK(!LLVMVerifyModule(c->module, LLVMPrintMessageAction, &errors));
    LLVMDisposeMessage(errors);
    if (optimise) {
        LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
        CHECK(LLVMRunPasses(c->module, "default<O2>", NULL, passes) == NULL);
        LLVMDisposePassBuilderOptions(passes);
    }
    struct LLVMMCJITCompilerOptions options;
    LLVMInitializeMCJITCompilerOptions(&options, sizeof options);
    LLVMExecutionEngineRef engine;
    char *error = NULL;
    CHECK(!LLVMCreateMCJITCompilerForModule(&engine, c->module, &options, sizeof options, &error));
    LLVMValueRef helper = LLVMGetNamedFunction(c->module, "counts");
    if (helper != NULL)
        LLVMAddGlobalMapping(engine, helper, (void *)(uintptr_t)counts);
    helper = LLVMGetNamedFunction(c->module, "reuses");
    if (helper != NULL)
        LLVMAddGlobalMapping(engine, helper, (void *)(uintptr_t)reuses);
    uint64_t (*f)(void *, void *) =
        (uint64_t(*)(void *, void *))(uintptr_t)LLVMGetFunctionAddress(engine, "f");
    uint64_t memory[4] = {0, 0, 0, 0};
    uint64_t result = f(memory, memory);
    tbaa_emitter_free(c->emitter);
    LLVMDisposeBuilder(c->b);
    LLVMDisposeExecutionEngine(engine);
    LLVMContextDispose(c->context);
    return result;
}

/* Attaches the nodes of a load, whatever the instruction is. */
static void force(Code *c, const tbaa_tagged *place, LLVMValueRef instruction) {
    tbaa_attachments nodes;
    CHECK_OK(tbaa_emit_tagged(c->emitter, place, TBAA_INSTRUCTION_KIND_LOAD, 0, &nodes));
    tbaa_llvm_attach(instruction, &nodes);
}

/* Calls `counts` twice, with an immutable place. Returns by how much the counter moved: 1,
 * unless LLVM removed a call. */
static uint64_t two_calls(const tbaa_tagged *tagged, bool by_force, bool optimise) {
    Code c = code_new();
    LLVMValueRef results[2];
    for (int i = 0; i < 2; i++) {
        results[i] = call_helper(&c, "counts", c.i64);
        if (by_force) {
            force(&c, tagged, results[i]);
        } else {
            CHECK_OK(tbaa_llvm_tag(c.emitter, tagged, results[i]));
        }
    }
    LLVMBuildRet(c.b, LLVMBuildSub(c.b, results[1], results[0], ""));
    return finish(&c, optimise);
}

/* Loads the step, stores 7 there, and loads it again. */
static uint64_t load_store_load(const tbaa_tagged *load, const tbaa_tagged *store, bool by_force,
                                bool optimise) {
    Code c = code_new();
    LLVMValueRef loads[2];
    for (int i = 0; i < 2; i++) {
        loads[i] = LLVMBuildLoad2(c.b, c.i64, parameter(&c, 0, load->place.offset), "");
        CHECK_OK(tbaa_llvm_tag(c.emitter, load, loads[i]));
        CHECK(LLVMGetAlignment(loads[i]) == load->place.align);
        if (i == 1)
            break;
        LLVMValueRef to = parameter(&c, 1, store->place.offset);
        LLVMValueRef stored = LLVMBuildStore(c.b, number(&c, 7), to);
        if (by_force)
            force(&c, store, stored);
        else
            CHECK_OK(tbaa_llvm_tag(c.emitter, store, stored));
    }
    LLVMBuildRet(c.b, LLVMBuildSub(c.b, loads[1], loads[0], ""));
    return finish(&c, optimise);
}

/* for (i = 0; i < 100; i++) { cons->head = i; number = reuses(cons); number->value = 0.5; } */
static uint64_t reuse(const tbaa_tagged *head, const tbaa_tagged *value, const tbaa_tagged *call,
                      bool optimise) {
    Code c = code_new();
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(c.b);
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c.context, c.function, "body");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c.context, c.function, "end");
    LLVMBuildBr(c.b, body);
    LLVMPositionBuilderAtEnd(c.b, body);
    LLVMValueRef i = LLVMBuildPhi(c.b, c.i64, "i");
    CHECK_OK(tbaa_llvm_tag(c.emitter, head, LLVMBuildStore(c.b, i, LLVMGetParam(c.function, 0))));
    LLVMValueRef object = call_helper(&c, "reuses", c.pointer);
    CHECK_OK(tbaa_llvm_tag(c.emitter, call, object));
    LLVMValueRef half = LLVMConstReal(LLVMDoubleTypeInContext(c.context), 0.5);
    CHECK_OK(tbaa_llvm_tag(c.emitter, value, LLVMBuildStore(c.b, half, object)));
    LLVMValueRef next = LLVMBuildAdd(c.b, i, number(&c, 1), "");
    LLVMValueRef values[] = {number(&c, 0), next};
    LLVMBasicBlockRef blocks[] = {entry, body};
    LLVMAddIncoming(i, values, blocks, 2);
    LLVMBuildCondBr(c.b, LLVMBuildICmp(c.b, LLVMIntULT, next, number(&c, 100), ""), body, end);
    LLVMPositionBuilderAtEnd(c.b, end);
    LLVMBuildRet(c.b, LLVMBuildLoad2(c.b, c.i64, LLVMGetParam(c.function, 1), ""));
    return finish(&c, optimise);
}

int main(void) {
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    tbaa_options options = tbaa_options_for_llvm();
    tbaa_context *types;
    CHECK_OK(tbaa_context_new(&options, &types));
    declare(types);
    tbaa_tag_options all;
    memset(&all, 0, sizeof all);
    all.form = TBAA_TAG_FORM_LOWERED_SCOPES;
    CHECK_OK(tbaa_context_tag_options(types, &all));
    enum { CONSTANT, STEP, HEAD, VALUE, PLACES };
    static const tbaa_str paths[PLACES] = {
        TBAA_STR("immutable Proto.step"),
        TBAA_STR("Proto.step"),
        TBAA_STR("Cons.head"),
        TBAA_STR("Float.value"),
    };
    tbaa_tagged at[PLACES];
    CHECK_OK(tbaa_places(types, paths, PLACES, at));
    CHECK(at[STEP].place.offset == offsetof(Proto, step) && at[STEP].place.size == 8);
    CHECK_FAILS(tbaa_context_tag_options(types, &all), TBAA_STATUS_INVALID_ARGUMENT,
                "say first what tags are to be");

    /* An immutable tag that is attached by force merges the two calls; nothing else does. */
    CHECK(two_calls(&at[CONSTANT], true, false) == 1);
    CHECK(two_calls(&at[CONSTANT], true, true) == 0);
    tbaa_tagged touching;
    CHECK_OK(tbaa_call_touching(types, &paths[CONSTANT], 1, NULL, 0, &touching));
    CHECK(touching.place.size == 0);
    /* The same with tags of clang's policy, which are attached unchanged. */
    tbaa_context *clang;
    CHECK_OK(tbaa_context_new(NULL, &clang));
    declare(clang);
    tbaa_tagged plain;
    CHECK_OK(tbaa_places(clang, &paths[CONSTANT], 1, &plain));
    const tbaa_oracle *oracle = tbaa_context_oracle(clang);
    for (int optimise = 0; optimise < 2; optimise++) {
        CHECK(two_calls(&at[CONSTANT], false, optimise) == 1);
        CHECK(two_calls(&touching, false, optimise) == 1);
        CHECK(two_calls(&plain, false, optimise) == 1);
    }

    /* A store to immutable memory. */
    CHECK(load_store_load(&at[CONSTANT], &at[STEP], false, false) == 7);
    CHECK(load_store_load(&at[CONSTANT], &at[CONSTANT], true, true) == 0);
    CHECK(load_store_load(&at[STEP], &at[STEP], false, false) == 7);
    CHECK(load_store_load(&at[STEP], &at[STEP], false, true) == 7);
    Code c = code_new();
    LLVMValueRef store = LLVMBuildStore(c.b, number(&c, 7), parameter(&c, 0, 8));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[CONSTANT], store), TBAA_STATUS_REFUSED,
                "a store at `immutable Proto.step`, which is immutable");
    tbaa_attachments nodes;
    CHECK_FAILS(tbaa_emit_access(c.emitter, oracle, tbaa_access(plain.place.tag, TBAA_EFFECT_WRITE),
                                 &nodes),
                TBAA_STATUS_REFUSED, "a store where memory is immutable");
    CHECK_OK(tbaa_emit_access(c.emitter, oracle, tbaa_access(plain.place.tag, TBAA_EFFECT_READ),
                              &nodes));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[STEP], parameter(&c, 1, 0)), TBAA_STATUS_REFUSED,
                "can have a tag");

    /* An access wider than its place, and one that may be so. */
    LLVMTypeRef words = LLVMVectorType(c.i64, 2);
    store = LLVMBuildStore(c.b, LLVMConstNull(words), parameter(&c, 0, 0));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[HEAD], store), TBAA_STATUS_REFUSED,
                "an access of 16 bytes at `Cons.head`, which has 8");
    tbaa_tagged wide;
    CHECK_OK(tbaa_place_sized(types, paths[HEAD], 16, &wide));
    CHECK_OK(tbaa_llvm_tag(c.emitter, &wide, store));
    CHECK(LLVMGetAlignment(store) == 8);
    tbaa_tagged again;
    CHECK_OK(tbaa_place_sized(types, paths[HEAD], 16, &again));
    CHECK(again.nodes == wide.nodes);
    store = LLVMBuildStore(c.b, LLVMConstNull(LLVMScalableVectorType(c.i64, 2)),
                           parameter(&c, 0, 0));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &wide, store), TBAA_STATUS_REFUSED, "size that varies");
    static const tbaa_str proto = TBAA_STR("Proto");
    tbaa_tagged whole;
    CHECK_OK(tbaa_places(types, &proto, 1, &whole));
    LLVMValueRef copy = LLVMBuildMemCpy(c.b, parameter(&c, 0, 0), 8, parameter(&c, 1, 0), 8,
                                        number(&c, 3 * sizeof(Proto)));
    CHECK_OK(tbaa_llvm_tag(c.emitter, &whole, copy));
    copy = LLVMBuildMemCpy(c.b, parameter(&c, 0, 0), 8, parameter(&c, 1, 0), 8, number(&c, 24));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &whole, copy), TBAA_STATUS_REFUSED,
                "an access of 24 bytes at `Proto`, which has 16");
    /* A fill larger than a member is refused. A path that ends at an element allows a run. */
    static const tbaa_str elements = TBAA_STR("*long");
    tbaa_tagged element;
    CHECK_OK(tbaa_places(types, &elements, 1, &element));
    for (int varies = 0; varies < 2; varies++) {
        LLVMValueRef bytes = varies ? LLVMBuildLoad2(c.b, c.i64, parameter(&c, 0, 0), "")
                                    : number(&c, 16);
        copy = LLVMBuildMemSet(c.b, parameter(&c, 0, 0),
                               LLVMConstNull(LLVMInt8TypeInContext(c.context)), bytes, 8);
        CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[STEP], copy), TBAA_STATUS_REFUSED,
                    "a path that ends in `[*]`");
        CHECK_OK(tbaa_llvm_tag(c.emitter, &element, copy));
    }
    /* A masked store has the width of its vector. */
    LLVMTypeRef four = LLVMVectorType(c.i64, 4), bits4 = LLVMVectorType(LLVMInt1TypeInContext(c.context), 4);
    LLVMTypeRef overloads[] = {four, LLVMPointerTypeInContext(c.context, 0)};
    unsigned masked = LLVMLookupIntrinsicID("llvm.masked.store", strlen("llvm.masked.store"));
    LLVMValueRef masked_store = LLVMGetIntrinsicDeclaration(c.module, masked, overloads, 2);
    LLVMValueRef given[] = {LLVMConstNull(four), parameter(&c, 0, 0), LLVMConstAllOnes(bits4)};
    LLVMValueRef stored = LLVMBuildCall2(c.b, LLVMGlobalGetValueType(masked_store), masked_store,
                                         given, 3, "");
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[STEP], stored), TBAA_STATUS_REFUSED,
                "an access of 32 bytes at `Proto.step`, which has 8");
    CHECK_OK(tbaa_llvm_tag(c.emitter, &element, stored));
    /* A module whose pointers are larger than the declared ones. */
    tbaa_context *small;
    tbaa_options i686 = tbaa_options_for_llvm();
    i686.target = tbaa_cstr("i686");
    CHECK_OK(tbaa_context_new(&i686, &small));
    static const tbaa_str pointers = TBAA_STR("*void *");
    tbaa_tagged narrow;
    CHECK_OK(tbaa_places(small, &pointers, 1, &narrow));
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &narrow,
                              LLVMBuildStore(c.b, parameter(&c, 0, 0), parameter(&c, 1, 0))),
                TBAA_STATUS_REFUSED, "data layout");
    tbaa_context_free(small);
    /* A pointer is no int, nor two; nor is a double. */
    static const tbaa_str ints[] = {TBAA_STR("Proto.size"), TBAA_STR("*int")};
    LLVMTypeRef values[] = {c.pointer, LLVMDoubleTypeInContext(c.context), c.i64,
                            LLVMVectorType(LLVMInt32TypeInContext(c.context), 2)};
    tbaa_tagged integers[2];
    CHECK_OK(tbaa_places(types, ints, 2, integers));
    for (int i = 0; i < 4; i++) {
        store = LLVMBuildStore(c.b, LLVMConstNull(values[i]), parameter(&c, 0, 0));
        CHECK_FAILS(tbaa_llvm_tag(c.emitter, &integers[0], store), TBAA_STATUS_REFUSED,
                    "an access of 8 bytes at `Proto.size`, which has 4");
        if (i == 3)
            CHECK_OK(tbaa_llvm_tag(c.emitter, &integers[1], store));
        else
            CHECK_FAILS(tbaa_llvm_tag(c.emitter, &integers[1], store), TBAA_STATUS_REFUSED,
                        "one value of 8 bytes at `*int`, whose elements have 4");
    }
    /* What is known of an alignment stays known. */
    static const tbaa_str aligned[] = {TBAA_STR("*memory"), TBAA_STR("*long")};
    tbaa_tagged known[2];
    CHECK_OK(tbaa_declare_scalar(types, tbaa_cstr("memory"), 1, 1, tbaa_cstr("char")));
    CHECK_OK(tbaa_places(types, aligned, 2, known));
    CHECK(known[0].place.align == 1 && !known[0].place.aligned && known[1].place.aligned);
    for (int i = 0; i < 4; i++) {
        store = LLVMBuildStore(c.b, number(&c, 7), parameter(&c, 0, 0));
        LLVMSetAlignment(store, 16);
        if (i >= 2)
            LLVMSetOrdering(store, LLVMAtomicOrderingSequentiallyConsistent);
        CHECK_OK(tbaa_llvm_tag(c.emitter, &known[i % 2], store));
        CHECK(LLVMGetAlignment(store) == (i == 1 ? 8 : 16));
    }
    /* A call that fills its argument, and an instruction of another context. */
    LLVMTypeRef taking = LLVMFunctionType(c.i64, (LLVMTypeRef[]){LLVMPointerTypeInContext(c.context, 0)}, 1, 0);
    LLVMValueRef by_value = LLVMAddFunction(c.module, "by_value", taking), from = parameter(&c, 0, 0);
    LLVMAddAttributeAtIndex(by_value, 1,
                            LLVMCreateTypeAttribute(c.context,
                                                    LLVMGetEnumAttributeKindForName("byval", 5), c.i64));
    LLVMValueRef made = LLVMBuildCall2(c.b, taking, by_value, &from, 1, "");
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &touching, made), TBAA_STATUS_REFUSED, "byval");
    Code other = code_new();
    CHECK_FAILS(tbaa_llvm_tag(c.emitter, &at[STEP],
                              LLVMBuildStore(other.b, number(&other, 7), parameter(&other, 0, 8))),
                TBAA_STATUS_REFUSED, "another LLVM context");
    tbaa_emitter_free(other.emitter);
    LLVMDisposeBuilder(other.b);
    LLVMDisposeModule(other.module);
    LLVMContextDispose(other.context);
    LLVMBuildRet(c.b, number(&c, 0));
    tbaa_emitter_free(c.emitter);
    LLVMDisposeBuilder(c.b);
    LLVMDisposeModule(c.module);
    LLVMContextDispose(c.context);

    /* An allocator that lists only its own memory, and one that also lists the types of the
     * memory that it returns. */
    static const tbaa_str arena = TBAA_STR("Arena.used");
    static const tbaa_str memory[] = {TBAA_STR("Cons"), TBAA_STR("Float")};
    tbaa_tagged own, allocates;
    CHECK_OK(tbaa_call_touching(types, &arena, 1, NULL, 0, &own));
    CHECK_OK(tbaa_call_touching(types, &arena, 1, memory, 2, &allocates));
    double half = 0.5;
    uint64_t bits;
    memcpy(&bits, &half, sizeof bits);
    CHECK(reuse(&at[HEAD], &at[VALUE], &own, false) == bits);
    CHECK(reuse(&at[HEAD], &at[VALUE], &own, true) == 99);
    CHECK(reuse(&at[HEAD], &at[VALUE], &allocates, false) == bits);
    CHECK(reuse(&at[HEAD], &at[VALUE], &allocates, true) == bits);

    /* Errors name the mistake. */
    static const tbaa_str nowhere = TBAA_STR("Proto.stop");
    CHECK_FAILS(tbaa_places(types, &nowhere, 1, &whole), TBAA_STATUS_PATH, "did you mean \"step\"");
    CHECK_FAILS(tbaa_places(types, &arena, 1, NULL), TBAA_STATUS_INVALID_ARGUMENT, "NULL");
    tbaa_options wrong = {TBAA_STR(""), TBAA_STR(""), TBAA_POLICY_RFC, TBAA_RULE_LLVM, false};
    tbaa_context *mixed;
    CHECK_OK(tbaa_context_new(&wrong, &mixed));
    CHECK_FAILS(tbaa_places(mixed, &nowhere, 1, &whole), TBAA_STATUS_INVALID_ARGUMENT,
                "tbaa_options_for_llvm");
    tbaa_context_free(mixed);
    tbaa_context_free(clang);
    tbaa_context_free(types);
    puts("ok");
    return 0;
}
