/* tbaa-llvm.h in C: makes nodes of every kind in an LLVM context and attaches them. */
#include "check.h"
#include <llvm-c/Analysis.h>
#include <tbaa-llvm.h>

enum { PARTS = 100 };

/* Returns an instruction's node of a kind, or NULL. */
static LLVMValueRef has(LLVMValueRef instruction, const char *kind) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMetadata(instruction,
                           LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)));
}

static bool contains(LLVMModuleRef module, const char *words) {
    char *text = LLVMPrintModuleToString(module);
    bool found = strstr(text, words) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in\n%s\n", words, text);
    LLVMDisposeMessage(text);
    return found;
}

int main(void) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("m", context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), &pointer, 1, 0);
    LLVMValueRef function = LLVMAddFunction(module, "f", type);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, "entry"));
    LLVMValueRef argument = LLVMGetParam(function, 0);
    LLVMValueRef load = LLVMBuildLoad2(builder, i32, argument, "x");
    LLVMValueRef store = LLVMBuildStore(builder, load, argument);
    LLVMValueRef copy_of_all = LLVMBuildMemCpy(builder, argument, 8, argument, 8,
                                               LLVMConstInt(i32, 4 * PARTS, 0));
    LLVMBuildRetVoid(builder);

    /* Nodes under an anonymous root are shared with no other module. */
    tbaa_context *types;
    CHECK_OK(tbaa_context_new(NULL, &types));
    tbaa_type root, integer, other;
    tbaa_tag tags[2];
    CHECK_OK(tbaa_build_anonymous_root(types, &root));
    CHECK_OK(tbaa_build_scalar_type(types, tbaa_cstr("int"), root, &integer));
    CHECK_OK(tbaa_build_scalar_type(types, tbaa_cstr("x\"\n"), root, &other));
    CHECK_OK(tbaa_build_struct_tag(types, integer, integer, 0, true, &tags[0]));
    CHECK_OK(tbaa_build_struct_tag(types, other, other, 0, false, &tags[1]));
    tbaa_part parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].tag = tags[i % 2];
        parts[i].offset = 4 * i;
        parts[i].size = 4;
    }
    tbaa_copy copy;
    CHECK_OK(tbaa_build_copy(types, parts, PARTS, &copy));

    const tbaa_oracle *oracle = tbaa_context_oracle(types);
    tbaa_sink sink = tbaa_llvm_sink(context);
    tbaa_emitter *emitter;
    CHECK_OK(tbaa_emitter_new(&sink, &emitter));
    tbaa_attachments nodes;
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tags[0], TBAA_EFFECT_READ), &nodes));
    tbaa_llvm_attach(load, &nodes);
    CHECK(has(load, "tbaa") && !has(load, "alias.scope") && !has(load, "noalias"));
    CHECK(contains(module, "i64 0, i64 1}"));
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tags[1], TBAA_EFFECT_WRITE), &nodes));
    tbaa_llvm_attach(store, &nodes);
    CHECK(has(store, "tbaa") && has(load, "tbaa") != has(store, "tbaa"));
    CHECK_OK(tbaa_emit_copy(emitter, oracle, copy, &nodes));
    tbaa_llvm_attach(copy_of_all, &nodes);
    CHECK(has(copy_of_all, "tbaa.struct") && !has(copy_of_all, "tbaa"));
    CHECK(LLVMGetMDNodeNumOperands(has(copy_of_all, "tbaa.struct")) == 3 * PARTS);

    /* Kinds have the numbers that the header gives them, and tbaa_llvm_tag removes the nodes that
     * were there. */
    tbaa_str path = TBAA_STR("*int");
    tbaa_tagged place;
    CHECK_OK(tbaa_places(types, &path, 1, &place));
    nodes.tag = nodes.alias_scope = nodes.noalias = nodes.tbaa_struct;
    tbaa_llvm_attach(load, &nodes);
    CHECK(has(load, "tbaa") && has(load, "tbaa.struct") && has(load, "alias.scope"));
    CHECK(has(load, "noalias") == has(copy_of_all, "tbaa.struct"));
    CHECK_OK(tbaa_llvm_tag(emitter, &place, load));
    CHECK(has(load, "tbaa") && !has(load, "tbaa.struct") && !has(load, "alias.scope"));
    CHECK(!has(load, "noalias"));

    /* Operands that libtbaa never passes to the callback. */
    tbaa_operand operands[2];
    memset(operands, 0, sizeof operands);
    operands[0].kind = TBAA_OPERAND_KIND_INTEGER;
    CHECK(tbaa_llvm_make_node(context, operands, 1, false) == NULL);
    operands[0].bits = 8;
    operands[0].value = 200;
    void *a = tbaa_llvm_make_node(context, operands, 1, false);
    CHECK(a != NULL && a == tbaa_llvm_make_node(context, operands, 1, false));
    operands[1].kind = TBAA_OPERAND_KIND_NULL;
    void *b = tbaa_llvm_make_node(context, operands, 2, true);
    CHECK(LLVM_VERSION_MAJOR < 17 ? b == NULL
                                  : b != NULL && b != tbaa_llvm_make_node(context, operands, 2, true));
    CHECK(tbaa_llvm_make_node(context, operands, 0, true) !=
          tbaa_llvm_make_node(context, operands, 0, true));
    operands[0].kind = 99;
    CHECK(tbaa_llvm_make_node(context, operands, 1, false) == NULL);

    char *errors = NULL;
    CHECK(!LLVMVerifyModule(module, LLVMReturnStatusAction, &errors));
    LLVMDisposeMessage(errors);
    CHECK(contains(module, "!{!\"x\\22\\0A\", "));
    /* A copy writes: its tags do not say that memory is immutable. */
    CHECK(!contains(module, "i64 0, i64 1}"));
    CHECK(contains(module, "= distinct !{!"));

    tbaa_emitter_free(emitter);
    tbaa_context_free(types);
    LLVMDisposeBuilder(builder);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    puts("ok");
    return 0;
}
