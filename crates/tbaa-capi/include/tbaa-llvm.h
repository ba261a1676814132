/* Makes libtbaa's nodes in an LLVM context, through llvm-c.
 *
 * All functions are inline, so that libtbaa itself does not link LLVM. Include this in a
 * program that links llvm-c of LLVM 14 or later. In C++, llvm::wrap converts LLVM's classes
 * to the types of llvm-c.
 *
 *     tbaa_sink sink = tbaa_llvm_sink(context);
 *     tbaa_emitter_new(&sink, &emitter);
 *     ...
 *     tbaa_llvm_tag(emitter, &place, load);
 */
#ifndef TBAA_LLVM_H
#define TBAA_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>
#include <tbaa.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most bits of an integer type. LLVM: IntegerType::MAX_INT_BITS. */
#define TBAA_LLVM_MAX_INTEGER_BITS (1u << 23)

/* The most operands of a node for which no memory is allocated. */
#define TBAA_LLVM_FEW_OPERANDS 64

/* Makes one operand; returns false if LLVM cannot have it. An operand that is the node itself
 * becomes NULL. */
static inline bool tbaa_llvm_operand(LLVMContextRef context, const tbaa_operand *operand,
                                     LLVMMetadataRef *made) {
    *made = NULL;
    switch (operand->kind) {
    case TBAA_OPERAND_KIND_BYTES:
        *made = LLVMMDStringInContext2(context, operand->bytes.data, operand->bytes.len);
        return true;
    case TBAA_OPERAND_KIND_INTEGER:
        if (operand->bits == 0 || operand->bits > TBAA_LLVM_MAX_INTEGER_BITS)
            return false;
        *made = LLVMValueAsMetadata(
            LLVMConstInt(LLVMIntTypeInContext(context, operand->bits), operand->value, 0));
        return true;
    case TBAA_OPERAND_KIND_NODE:
        *made = (LLVMMetadataRef)operand->node;
        return true;
    case TBAA_OPERAND_KIND_NULL:
    case TBAA_OPERAND_KIND_ITSELF:
        return true;
    default:
        return false;
    }
}

/* Makes a distinct node. llvm-c has no function for this, but a node becomes distinct when
 * one of its operands is replaced by the node itself. So the first operand becomes the node
 * itself, and is then changed back. LLVM before 17 cannot change it back: the function returns
 * NULL then. The distinct nodes that libtbaa makes have themselves as the first operand. */
static inline LLVMMetadataRef tbaa_llvm_distinct(LLVMContextRef context,
                                                 const tbaa_operand *operands,
                                                 LLVMMetadataRef *nodes, size_t count) {
    LLVMMetadataRef first = nodes[0], made, temporary;
    if (operands[0].kind != TBAA_OPERAND_KIND_ITSELF && LLVM_VERSION_MAJOR < 17)
        return NULL;
    temporary = LLVMTemporaryMDNode(context, NULL, 0);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || operands[i].kind == TBAA_OPERAND_KIND_ITSELF)
            nodes[i] = temporary;
    made = LLVMMDNodeInContext2(context, nodes, count);
    LLVMMetadataReplaceAllUsesWith(temporary, made); /* and deletes it */
#if LLVM_VERSION_MAJOR >= 17
    if (operands[0].kind != TBAA_OPERAND_KIND_ITSELF)
        LLVMReplaceMDNodeOperandWith(LLVMMetadataAsValue(context, made), 0, first);
#else
    (void)first;
#endif
    return made;
}

/* A tbaa_make_node; `data` is the LLVMContextRef. */
static inline void *tbaa_llvm_make_node(void *data, const tbaa_operand *operands, size_t count,
                                        bool distinct) {
    LLVMContextRef context = (LLVMContextRef)data;
    LLVMMetadataRef few[TBAA_LLVM_FEW_OPERANDS], *nodes = few, made = NULL;
    /* A distinct node without operands has none to make it so: it gets itself. */
    tbaa_operand itself;
    few[0] = NULL;
    if (count == 0 && distinct) {
        itself.kind = TBAA_OPERAND_KIND_ITSELF;
        operands = &itself;
        count = 1;
    }
    if (count > TBAA_LLVM_FEW_OPERANDS)
        nodes = (LLVMMetadataRef *)malloc(count * sizeof *nodes);
    if (nodes != NULL) {
        bool possible = true;
        for (size_t i = 0; possible && i < count; i++)
            possible = tbaa_llvm_operand(context, &operands[i], &nodes[i]);
        if (possible)
            made = distinct ? tbaa_llvm_distinct(context, operands, nodes, count)
                            : LLVMMDNodeInContext2(context, nodes, count);
    }
    if (nodes != few)
        free(nodes);
    return made;
}

/* Makes nodes in an LLVM context. */
static inline tbaa_sink tbaa_llvm_sink(LLVMContextRef context) {
    tbaa_sink sink;
    sink.make_node = tbaa_llvm_make_node;
    sink.data = context;
    return sink;
}

/* Metadata kinds that have the same number in each LLVM context, since LLVM 3.5. */
enum {
    TBAA_LLVM_TBAA = 1,
    TBAA_LLVM_TBAA_STRUCT = 5,
    TBAA_LLVM_ALIAS_SCOPE = 7,
    TBAA_LLVM_NOALIAS = 8
};

/* Attaches one node, unless it is NULL. */
static inline void tbaa_llvm_attach_kind(LLVMValueRef instruction, unsigned kind, void *node) {
    if (node != NULL)
        LLVMSetMetadata(instruction, kind,
                        LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(instruction)),
                                            (LLVMMetadataRef)node));
}

/* Attaches the nodes of an access, a call or a copy to its instruction, which keeps its
 * metadata of other kinds. */
static inline void tbaa_llvm_attach(LLVMValueRef instruction, const tbaa_attachments *nodes) {
    tbaa_llvm_attach_kind(instruction, TBAA_LLVM_TBAA, nodes->tag);
    tbaa_llvm_attach_kind(instruction, TBAA_LLVM_TBAA_STRUCT, nodes->tbaa_struct);
    tbaa_llvm_attach_kind(instruction, TBAA_LLVM_ALIAS_SCOPE, nodes->alias_scope);
    tbaa_llvm_attach_kind(instruction, TBAA_LLVM_NOALIAS, nodes->noalias);
}

/* Types that are nested deeper than this count as varying in size. */
#define TBAA_LLVM_DEEPEST 64

/* Returns whether a type's size depends on the processor, so that LLVM has no number for it. */
static inline bool tbaa_llvm_varies(LLVMTypeRef type, unsigned depth) {
    if (depth > TBAA_LLVM_DEEPEST)
        return true;
    switch (LLVMGetTypeKind(type)) {
    case LLVMScalableVectorTypeKind:
#if LLVM_VERSION_MAJOR >= 16
    case LLVMTargetExtTypeKind:
#endif
        return true;
    case LLVMArrayTypeKind:
        return tbaa_llvm_varies(LLVMGetElementType(type), depth + 1);
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            if (tbaa_llvm_varies(LLVMStructGetTypeAtIndex(type, i), depth + 1))
                return true;
        return false;
    default:
        return false;
    }
}

/* Returns the number of bytes that a type takes in memory; UINT64_MAX if it varies. */
static inline uint64_t tbaa_llvm_size(LLVMValueRef instruction, LLVMTypeRef type) {
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    if (!LLVMTypeIsSized(type) || tbaa_llvm_varies(type, 0))
        return UINT64_MAX;
    return LLVMStoreSizeOfType(LLVMGetModuleDataLayout(LLVMGetGlobalParent(function)), type);
}

/* The bytes of the largest scalar in a type: of a run, those of an element. */
static inline uint64_t tbaa_llvm_element(LLVMValueRef instruction, LLVMTypeRef type,
                                         unsigned depth) {
    uint64_t most = 0;
    switch (LLVMGetTypeKind(type)) {
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return depth > TBAA_LLVM_DEEPEST
                   ? 0
                   : tbaa_llvm_element(instruction, LLVMGetElementType(type), depth + 1);
    case LLVMStructTypeKind:
        for (unsigned i = 0; depth <= TBAA_LLVM_DEEPEST && i < LLVMCountStructElementTypes(type);
             i++) {
            uint64_t size =
                tbaa_llvm_element(instruction, LLVMStructGetTypeAtIndex(type, i), depth + 1);
            most = size > most ? size : most;
        }
        return most;
    default:
        return tbaa_llvm_size(instruction, type);
    }
}

/* Whether a call has an argument that is memory, which it copies or fills by itself. */
static inline bool tbaa_llvm_has_own_memory(LLVMValueRef call) {
    static const char *const names[] = {"byval", "sret", "inalloca", "preallocated"};
    LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(call));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        for (unsigned at = 1; at <= LLVMGetNumArgOperands(call); at++)
            if (LLVMGetCallSiteEnumAttribute(call, at, kind) != NULL ||
                (function != NULL && LLVMGetEnumAttributeAtIndex(function, at, kind) != NULL))
                return true;
    }
    return false;
}

/* Returns whether a name begins with `with`. */
static inline bool tbaa_llvm_begins(const char *name, size_t len, const char *with) {
    return len >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

/* Returns the number of bytes that a call of an intrinsic accesses: the size of its result or,
 * if it returns nothing, of its vector arguments; UINT64_MAX if neither gives the number. */
static inline uint64_t tbaa_llvm_intrinsic_size(LLVMValueRef call, const char *name, size_t len) {
    LLVMTypeRef returned = LLVMTypeOf(call);
    uint64_t sum = 0;
    if (tbaa_llvm_begins(name, len, "llvm.matrix.") ||
        tbaa_llvm_begins(name, len, "llvm.experimental.vp.strided.") ||
        tbaa_llvm_begins(name, len, "llvm.experimental.memset."))
        return UINT64_MAX;
    if (LLVMGetTypeKind(returned) != LLVMVoidTypeKind)
        return tbaa_llvm_size(call, returned);
    for (unsigned at = 0; at < LLVMGetNumArgOperands(call); at++) {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(call, at)), lane;
        if (LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind)
            return UINT64_MAX;
        if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
            continue;
        lane = LLVMGetElementType(type);
        /* Vectors of i1 are masks, and vectors of pointers after the first argument are
         * addresses: neither counts. */
        if (!(LLVMGetTypeKind(lane) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(lane) == 1) &&
            !(at > 0 && LLVMGetTypeKind(lane) == LLVMPointerTypeKind))
            sum += tbaa_llvm_size(call, type);
    }
    return sum == 0 ? UINT64_MAX : sum;
}

/* Returns the kind of a call. For an intrinsic, also writes the number of bytes that it
 * accesses to `size`: 0 if a fill or copy has a length that is not constant. */
static inline uint32_t tbaa_llvm_call_kind(LLVMValueRef call, uint64_t *size) {
    LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(call));
    size_t len = 0;
    const char *name;
    if (tbaa_llvm_has_own_memory(call))
        return TBAA_INSTRUCTION_KIND_OWN_MEMORY;
    if (function == NULL || LLVMGetIntrinsicID(function) == 0)
        return TBAA_INSTRUCTION_KIND_CALL;
    name = LLVMGetValueName2(function, &len);
    if (tbaa_llvm_begins(name, len, "llvm.mem")) {
        LLVMValueRef bytes = LLVMIsAConstantInt(LLVMGetOperand(call, 2));
        *size = bytes == NULL ? 0 : LLVMConstIntGetZExtValue(bytes);
    } else {
        *size = tbaa_llvm_intrinsic_size(call, name, len);
    }
    return TBAA_INSTRUCTION_KIND_COPY;
}

/* Makes and attaches what an instruction at a place, or a call, is to get: tag and
 * scopes, the alignment that is known, `volatile` where the path says so. What it had of
 * them before is taken off. An atomic access keeps its alignment, so set an ordering before where
 * a place is packed. The instruction is in a function of a module, and the emitter's
 * sink is that of tbaa_llvm_sink. TBAA_STATUS_REFUSED, and an instruction that is as it was,
 * for an access wider than its place that is no run of whole elements, a store where memory is
 * immutable, a call with an argument that is memory (byval, sret), an instruction of another
 * context, and what cannot have a tag; tbaa_last_error says what to do. */
static inline tbaa_status tbaa_llvm_tag(tbaa_emitter *emitter, const tbaa_tagged *tagged,
                                        LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    uint32_t kind = TBAA_INSTRUCTION_KIND_CALL;
    uint64_t size = 0;
    LLVMTypeRef type = NULL;
    tbaa_attachments nodes;
    tbaa_status status;
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    static const unsigned kinds[] = {TBAA_LLVM_TBAA, TBAA_LLVM_TBAA_STRUCT, TBAA_LLVM_ALIAS_SCOPE,
                                     TBAA_LLVM_NOALIAS};
    switch (opcode) {
    case LLVMLoad:
    case LLVMVAArg:
        type = LLVMTypeOf(instruction);
        kind = TBAA_INSTRUCTION_KIND_LOAD;
        break;
    case LLVMStore:
        type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
        kind = TBAA_INSTRUCTION_KIND_STORE;
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        type = LLVMTypeOf(LLVMGetOperand(instruction, 1));
        kind = TBAA_INSTRUCTION_KIND_STORE;
        break;
    case LLVMCall:
    case LLVMInvoke:
        kind = tbaa_llvm_call_kind(instruction, &size);
        break;
    default:
        kind = TBAA_INSTRUCTION_KIND_NONE;
        break;
    }
    if (type != NULL)
        size = tbaa_llvm_size(instruction, type);
    if (type != NULL && tagged != NULL && size != UINT64_MAX && size > tagged->place.size) {
        status = tbaa_check_element(tagged, size, tbaa_llvm_element(instruction, type, 0),
                                    LLVMGetTypeKind(type) == LLVMPointerTypeKind);
        if (status != TBAA_STATUS_OK)
            return status;
    }
    if (emitter != NULL && tbaa_emitter_data(emitter) != (void *)context)
        kind = TBAA_INSTRUCTION_KIND_OTHER_CONTEXT;
    status = tbaa_emit_tagged(emitter, tagged, kind, size, &nodes);
    if (status != TBAA_STATUS_OK)
        return status;
    for (size_t i = 0; LLVMHasMetadata(instruction) && i < sizeof kinds / sizeof *kinds; i++)
        LLVMSetMetadata(instruction, kinds[i], NULL);
    if (opcode == LLVMInvoke)
        nodes.tag = NULL; /* LLVM's verifier rejects it, but accepts scopes. */
    tbaa_llvm_attach(instruction, &nodes);
    if ((opcode == LLVMLoad || opcode == LLVMStore) &&
        LLVMGetOrdering(instruction) == LLVMAtomicOrderingNotAtomic &&
        tagged->place.bit_width == 0 && tagged->place.aligned && tagged->place.align <= UINT32_MAX)
        LLVMSetAlignment(instruction, (unsigned)tagged->place.align);
    if (tagged->place.is_volatile && kind < TBAA_INSTRUCTION_KIND_CALL && opcode != LLVMVAArg)
        LLVMSetVolatile(instruction, 1);
    return TBAA_STATUS_OK;
}

/* The position of tbaa_llvm_attach_next: a function and an instruction, with their numbers. */
typedef struct tbaa_llvm_cursor {
    LLVMValueRef function, instruction;
    uint32_t functions, instructions;
} tbaa_llvm_cursor;

/* Moves to the first instruction of `function`, or of the next function that has a body. */
static inline void tbaa_llvm_begin(tbaa_llvm_cursor *cursor, LLVMValueRef function) {
    while (function != NULL && LLVMCountBasicBlocks(function) == 0)
        function = LLVMGetNextFunction(function);
    cursor->function = function;
    cursor->instructions = 0;
    cursor->instruction = NULL;
    for (LLVMBasicBlockRef block = function == NULL ? NULL : LLVMGetFirstBasicBlock(function);
         block != NULL && cursor->instruction == NULL; block = LLVMGetNextBasicBlock(block))
        cursor->instruction = LLVMGetFirstInstruction(block);
}

/* A tbaa_attach_tag; `data` is the tbaa_llvm_cursor. */
static inline void tbaa_llvm_attach_next(void *data, uint32_t function, uint32_t instruction,
                                         void *tag) {
    tbaa_llvm_cursor *cursor = (tbaa_llvm_cursor *)data;
    for (; cursor->function != NULL && cursor->functions < function; cursor->functions++)
        tbaa_llvm_begin(cursor, LLVMGetNextFunction(cursor->function));
    for (; cursor->instruction != NULL && cursor->instructions < instruction;
         cursor->instructions++) {
        LLVMBasicBlockRef block = LLVMGetInstructionParent(cursor->instruction);
        cursor->instruction = LLVMGetNextInstruction(cursor->instruction);
        while (cursor->instruction == NULL && (block = LLVMGetNextBasicBlock(block)) != NULL)
            cursor->instruction = LLVMGetFirstInstruction(block);
    }
    if (cursor->instruction != NULL)
        tbaa_llvm_attach_kind(cursor->instruction, TBAA_LLVM_TBAA, tag);
}

/* Gives a module's loads and stores tags, which follow from the places that its
 * getelementptrs name. tbaa_tag_module says which rules the program must obey. Call this when
 * the module is complete and has its data layout, before any of LLVM's passes. `tagging` and
 * `summary` may be NULL. The emitter's sink must come from tbaa_llvm_sink, with the module's
 * context. */
static inline tbaa_status tbaa_llvm_tag_module(tbaa_emitter *emitter, LLVMModuleRef module,
                                               const tbaa_tagging *tagging, tbaa_text *summary) {
    tbaa_llvm_cursor cursor = {NULL, NULL, 0, 0};
    char *printed = LLVMPrintModuleToString(module);
    tbaa_status status;
    tbaa_llvm_begin(&cursor, LLVMGetFirstFunction(module));
    status = tbaa_tag_module(emitter, tbaa_cstr(printed), tagging, tbaa_llvm_attach_next, &cursor,
                             summary);
    LLVMDisposeMessage(printed);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif /* TBAA_LLVM_H */
