/* libtbaa's nodes in an LLVM context, through llvm-c.
 *
 * All is inline, so that libtbaa links no LLVM: include this where llvm-c is
 * linked, of LLVM 9 or later. In C++, llvm::wrap gives what llvm-c wants.
 *
 *     tbaa_sink sink = tbaa_llvm_sink(context);
 *     tbaa_emitter_new(&sink, &emitter);
 *     ...
 *     tbaa_emit_access(emitter, &plan, access, &nodes);
 *     tbaa_llvm_attach(load, &nodes);
 */
#ifndef TBAA_LLVM_H
#define TBAA_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <tbaa.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most bits of an integer type. LLVM: IntegerType::MAX_INT_BITS. */
#define TBAA_LLVM_MAX_INTEGER_BITS (1u << 23)

/* Operands that need no memory of their own. */
#define TBAA_LLVM_FEW_OPERANDS 64

/* One operand; false if LLVM has no such thing. The node itself is NULL here. */
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

/* Makes a distinct node, for which llvm-c has no function: a node becomes
 * distinct when an operand of it is replaced by the node itself. The first
 * operand is that for a while. */
static inline LLVMMetadataRef tbaa_llvm_distinct(LLVMContextRef context,
                                                 const tbaa_operand *operands,
                                                 LLVMMetadataRef *nodes, size_t count) {
    LLVMMetadataRef first = nodes[0], made;
    LLVMMetadataRef temporary = LLVMTemporaryMDNode(context, NULL, 0);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || operands[i].kind == TBAA_OPERAND_KIND_ITSELF)
            nodes[i] = temporary;
    made = LLVMMDNodeInContext2(context, nodes, count);
    LLVMMetadataReplaceAllUsesWith(temporary, made); /* and deletes it */
    if (operands[0].kind != TBAA_OPERAND_KIND_ITSELF)
        LLVMReplaceMDNodeOperandWith(LLVMMetadataAsValue(context, made), 0, first);
    return made;
}

/* A tbaa_make_node; `data` is the LLVMContextRef. */
static inline void *tbaa_llvm_make_node(void *data, const tbaa_operand *operands, size_t count,
                                        bool distinct) {
    LLVMContextRef context = (LLVMContextRef)data;
    LLVMMetadataRef few[TBAA_LLVM_FEW_OPERANDS], *nodes = few, made = NULL;
    /* A distinct node without operands has none to make it so: one that is null
     * makes no difference. */
    tbaa_operand null_operand;
    few[0] = NULL;
    if (count == 0 && distinct) {
        null_operand.kind = TBAA_OPERAND_KIND_NULL;
        operands = &null_operand;
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

/* Attaches one node, unless it is NULL. */
static inline void tbaa_llvm_attach_kind(LLVMValueRef instruction, const char *kind, void *node) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    if (node != NULL)
        LLVMSetMetadata(instruction,
                        LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)),
                        LLVMMetadataAsValue(context, (LLVMMetadataRef)node));
}

/* Attaches all that an access, a call or a copy is to get. What it has of other
 * kinds it keeps. */
static inline void tbaa_llvm_attach(LLVMValueRef instruction, const tbaa_attachments *nodes) {
    tbaa_llvm_attach_kind(instruction, "tbaa", nodes->tag);
    tbaa_llvm_attach_kind(instruction, "tbaa.struct", nodes->tbaa_struct);
    tbaa_llvm_attach_kind(instruction, "alias.scope", nodes->alias_scope);
    tbaa_llvm_attach_kind(instruction, "noalias", nodes->noalias);
}

#ifdef __cplusplus
}
#endif

#endif /* TBAA_LLVM_H */
