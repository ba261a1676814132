/* libtbaa: type-based alias analysis for compilers. The guide is docs/embed-c.md.
 * This file is written by cbindgen: do not edit it.
 *
 * Building nodes like LLVM's MDBuilder, and asking whether two accesses may alias:
 *
 *     tbaa_context_new(&options, &context);
 *     tbaa_build_scalar_type(context, name, parent, &type);  tbaa_build_struct_type(...)
 *     tbaa_build_struct_tag(context, base, access, offset, immutable, &tag);
 *     tbaa_may_alias(tbaa_context_oracle(context), tag_a, tag_b)
 *     tbaa_dump(oracle, TBAA_DUMP_FORMAT_LLVM, &text);       tbaa_emit_access(...)
 *
 * Declaring types, and emitting LLVM's metadata for accesses to them, including unions:
 *
 *     tbaa_options options = tbaa_options_for_llvm();        tbaa_context_new(...)
 *     tbaa_declare(context, &record);
 *     tbaa_places(context, paths, count, places);
 *     tbaa_emitter_new(&sink, &emitter);                     (tbaa_llvm_sink of tbaa-llvm.h)
 *     tbaa_llvm_tag(emitter, &places[i], load_or_store);     (tbaa-llvm.h)
 *
 * Threads: functions that take a `const` context or oracle may run on many threads at
 * once. All other functions need exclusive use of their arguments. Meanwhile, other threads
 * may use another context, or a snapshot or a reader of this one.
 *
 * Errors: a function that can fail returns a status, and writes its results only if that is
 * TBAA_STATUS_OK. tbaa_last_error returns the message; each thread has its own. Functions that
 * answer questions cannot fail: if in doubt, they answer that accesses may overlap. Unless a
 * function says otherwise, NULL is an error and not a crash. So is a number that is not in the
 * enumeration.
 *
 * Ids are small numbers, valid in the context that made them and in all its snapshots. 0 means
 * none. The library cannot tell another context's id from its own if both have the same number.
 * A string is a pointer to bytes, and their number. Each function says how long its results
 * live.
 */

#ifndef TBAA_H
#define TBAA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !defined(TBAA_NO_INLINE)
/* A string's bytes, for initialisers: TBAA_STR("TValue *"). */
#define TBAA_STR(literal) {(literal), sizeof(literal) - 1}

/* A member of struct `record`, as `type_name`; see tbaa_record_member. */
#define TBAA_MEMBER(record, member, type_name)                                                   \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member),                           \
     sizeof(((record *)0)->member), 0, 0, 0}

/* The same for a member that is never modified while it can be read. */
#define TBAA_IMMUTABLE_MEMBER(record, member, type_name)                                         \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member),                           \
     sizeof(((record *)0)->member), 0, 0, TBAA_MEMBER_FLAG_IMMUTABLE}

/* A flexible array member, which has no size: TBAA_FLEXIBLE(Proto, code, "int []"). */
#define TBAA_FLEXIBLE(record, member, type_name)                                                 \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member), 0, 0, 0, 0}

/* A bit-field. It has no offsetof: pass its first bit, counted from the start of the record. */
#define TBAA_BITS(member, type_name, first_bit, width)                                           \
    {TBAA_STR(#member), TBAA_STR(type_name), (first_bit), 0, 0, (width),                         \
     TBAA_MEMBER_FLAG_BIT_FIELD}

/* An anonymous struct or union of a declared type, at the place of one of its members. */
#define TBAA_ANONYMOUS(record, first_member, type_name)                                          \
    {TBAA_STR(""), TBAA_STR(type_name), offsetof(record, first_member), 0, 0, 0, 0}

/* A member of a union without a name, behind the first of that union's members. */
#define TBAA_UNION_MEMBER(record, member, type_name)                                             \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member),                           \
     sizeof(((record *)0)->member), 0, 0, TBAA_MEMBER_FLAG_OVERLAPS}

/* A member of a struct or union whose type has no name, where `within` leads from `record`. */
#define TBAA_NESTED_MEMBER(record, within, member, type_name)                                    \
    {TBAA_STR(#member), TBAA_STR(type_name),                                                     \
     offsetof(record, within.member) - offsetof(record, within),                                 \
     sizeof(((record *)0)->within.member), 0, 0, 0}

/* Such a struct or union itself, by the name "record.within". */
#define TBAA_NESTED_RECORD(record, within, record_members, record_flags)                         \
    {TBAA_STR(#record "." #within), (record_members),                                            \
     sizeof(record_members) / sizeof((record_members)[0]), sizeof(((record *)0)->within), 0,     \
     (record_flags)}

/* A member at an offset and of a size that the run time knows: a scalar of its own. */
#define TBAA_SLOT(member, member_offset, member_size)                                            \
    {TBAA_STR(member), TBAA_STR(""), (member_offset), (member_size), 0, 0, 0}

/* A struct or union whose members stand in an array. */
#define TBAA_RECORD(record, record_members, record_flags)                                        \
    {TBAA_STR(#record), (record_members), sizeof(record_members) / sizeof((record_members)[0]),  \
     sizeof(record), 0, (record_flags)}
#endif


/**
 * The version of this interface. It grows with each change that a compiled program would notice.
 * The shared library's name ends in it: `libtbaa.so.1`.
 */
#define TBAA_ABI_VERSION 1

/**
 * The status of a call. If it is not `TBAA_STATUS_OK`, no result was written, and
 * `tbaa_last_error` says what is wrong and what to do.
 */
enum tbaa_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    TBAA_STATUS_OK = 0,
    /**
     * A NULL that is not allowed, a number that is not a constant of its enum, text that is not
     * UTF-8, or an array that is too large for memory or misaligned.
     */
    TBAA_STATUS_INVALID_ARGUMENT = 1,
    /**
     * An id that this context or oracle did not issue.
     */
    TBAA_STATUS_UNKNOWN_ID = 2,
    /**
     * A declaration that C would reject, or whose offsets or sizes do not fit the members' types.
     */
    TBAA_STATUS_DECLARATION = 3,
    /**
     * A path, such as `Point.x`, that leads to no member or element.
     */
    TBAA_STATUS_PATH = 4,
    /**
     * The context's policy has no tag for the path: leave the access untagged.
     */
    TBAA_STATUS_UNTAGGED = 5,
    /**
     * A spec (the text that `tbaa_context_load` reads) that has errors.
     */
    TBAA_STATUS_SPEC = 6,
    /**
     * Metadata nodes that the library refuses to make.
     */
    TBAA_STATUS_BUILD = 7,
    /**
     * A tag that LLVM would reject, crash on or get wrong for this access.
     */
    TBAA_STATUS_REFUSED = 8,
    /**
     * A callback reported failure.
     */
    TBAA_STATUS_SINK = 9,
    /**
     * The format given to `tbaa_dump` cannot express the metadata.
     */
    TBAA_STATUS_UNWRITABLE = 10,
    /**
     * A defect of the library. A context that the call was changing can only be freed.
     */
    TBAA_STATUS_PANICKED = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_status tbaa_status;
#else
typedef uint32_t tbaa_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The rule by which queries are answered: `docs/rules.md` helps to choose.
 */
enum tbaa_rule
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * For `tbaa_context_load` the spec's own rule, for `tbaa_context_snapshot` the context's,
     * otherwise LLVM's.
     */
    TBAA_RULE_DEFAULT = 0,
    /**
     * LLVM 22's rule. Every answer equals LLVM's.
     */
    TBAA_RULE_LLVM = 1,
    /**
     * Compares the accessed bytes, and follows every member of a union.
     */
    TBAA_RULE_UNION = 2,
    /**
     * Like `TBAA_RULE_UNION`, for programs in which every union access names its member.
     */
    TBAA_RULE_UNION_STRICT = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_rule tbaa_rule;
#else
typedef uint32_t tbaa_rule;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The effect of an access or a call on memory: bits of a mask.
 */
enum tbaa_effect
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The access or call loads.
     */
    TBAA_EFFECT_READ = 1,
    /**
     * The access or call stores.
     */
    TBAA_EFFECT_WRITE = 2,
    /**
     * Both, or the effect is unknown. 0 in a `tbaa_memory_access` means the same.
     */
    TBAA_EFFECT_BOTH = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_effect tbaa_effect;
#else
typedef uint32_t tbaa_effect;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The possible dependences of a second access on a first: bits of a mask.
 */
enum tbaa_conflict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The second reads what the first wrote.
     */
    TBAA_CONFLICT_READ_AFTER_WRITE = 1,
    /**
     * The second overwrites what the first read.
     */
    TBAA_CONFLICT_WRITE_AFTER_READ = 2,
    /**
     * The second overwrites what the first wrote.
     */
    TBAA_CONFLICT_WRITE_AFTER_WRITE = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_conflict tbaa_conflict;
#else
typedef uint32_t tbaa_conflict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The policy by which declared types become TBAA metadata.
 */
enum tbaa_policy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Like clang 22, so that code may be linked with C. The tag of a union's member is that of
     * `char`, which may alias everything. To separate the members of unions in LLVM, use
     * `tbaa_options_for_llvm`.
     */
    TBAA_POLICY_CLANG = 0,
    /**
     * Unions are types with overlapping members, as the rules `TBAA_RULE_UNION` and
     * `TBAA_RULE_UNION_STRICT` need them. LLVM gets tags of such types wrong unless they were
     * lowered (rewritten for LLVM's own rule), as `tbaa_places` does.
     */
    TBAA_POLICY_RFC = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_policy tbaa_policy;
#else
typedef uint32_t tbaa_policy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Properties of a member besides its type: bits of a mask.
 */
enum tbaa_member_flag
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The member is never modified while it can be read. LLVM relies on this promise.
     */
    TBAA_MEMBER_FLAG_IMMUTABLE = 1,
    /**
     * The member is not aligned.
     */
    TBAA_MEMBER_FLAG_PACKED = 2,
    /**
     * The member is a base class, without a name.
     */
    TBAA_MEMBER_FLAG_BASE = 4,
    /**
     * The member is a bit-field; `offset` counts bits.
     */
    TBAA_MEMBER_FLAG_BIT_FIELD = 8,
    /**
     * The member shares bytes with the member before it. A member and all members directly after
     * it that have this flag form one unnamed union.
     */
    TBAA_MEMBER_FLAG_OVERLAPS = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_member_flag tbaa_member_flag;
#else
typedef uint32_t tbaa_member_flag;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Properties of a record besides its members: bits of a mask.
 */
enum tbaa_record_flag
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The record is a union.
     */
    TBAA_RECORD_FLAG_UNION = 1,
    /**
     * The record's members are not aligned.
     */
    TBAA_RECORD_FLAG_PACKED = 2,
    /**
     * Accesses to the record's members may alias everything.
     */
    TBAA_RECORD_FLAG_MAY_ALIAS = 4,
    /**
     * The library computes the members' offsets and the record's size as the target's compiler
     * would, and ignores the given ones. Use it for a target other than this machine.
     */
    TBAA_RECORD_FLAG_COMPUTED = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_record_flag tbaa_record_flag;
#else
typedef uint32_t tbaa_record_flag;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Formats of `tbaa_dump`.
 */
enum tbaa_dump_format
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Metadata that `llvm-as` accepts.
     */
    TBAA_DUMP_FORMAT_LLVM = 0,
    /**
     * Attributes of MLIR's LLVM dialect; only for tags of the old format, which is not size-aware.
     */
    TBAA_DUMP_FORMAT_MLIR = 1,
    /**
     * A spec, which `tbaa_context_load` and the `tbaa` command read.
     */
    TBAA_DUMP_FORMAT_RON = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_dump_format tbaa_dump_format;
#else
typedef uint32_t tbaa_dump_format;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of a node's operand.
 */
enum tbaa_operand_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `null`.
     */
    TBAA_OPERAND_KIND_NULL = 0,
    /**
     * A string: any bytes.
     */
    TBAA_OPERAND_KIND_BYTES = 1,
    /**
     * An integer constant.
     */
    TBAA_OPERAND_KIND_INTEGER = 2,
    /**
     * A node that the callback has made.
     */
    TBAA_OPERAND_KIND_NODE = 3,
    /**
     * The node that is being made.
     */
    TBAA_OPERAND_KIND_ITSELF = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_operand_kind tbaa_operand_kind;
#else
typedef uint32_t tbaa_operand_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The metadata for LLVM under `TBAA_POLICY_RFC`; `TBAA_POLICY_CLANG` passes tags unchanged.
 */
enum tbaa_tag_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Lowered tags, for which LLVM's own rule gives correct answers.
     */
    TBAA_TAG_FORM_LOWERED = 0,
    /**
     * Lowered tags, and alias scopes for all places that the rule separates, also for calls.
     */
    TBAA_TAG_FORM_LOWERED_SCOPES = 1,
    /**
     * The same alias scopes, and no tags.
     */
    TBAA_TAG_FORM_SCOPES = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_tag_form tbaa_tag_form;
#else
typedef uint32_t tbaa_tag_form;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of an instruction, which decides its metadata.
 */
enum tbaa_instruction_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The instruction loads.
     */
    TBAA_INSTRUCTION_KIND_LOAD = 0,
    /**
     * The instruction stores, or loads and stores.
     */
    TBAA_INSTRUCTION_KIND_STORE = 1,
    /**
     * The instruction calls.
     */
    TBAA_INSTRUCTION_KIND_CALL = 2,
    /**
     * The instruction copies or fills memory, such as `llvm.memcpy`, or is another intrinsic that
     * accesses memory, such as `llvm.masked.store`.
     */
    TBAA_INSTRUCTION_KIND_COPY = 3,
    /**
     * Any other instruction; LLVM allows no tag on it.
     */
    TBAA_INSTRUCTION_KIND_NONE = 4,
    /**
     * The instruction is a call that itself copies or fills the memory of an argument: `byval`,
     * `sret`, `inalloca`, `preallocated`.
     */
    TBAA_INSTRUCTION_KIND_OWN_MEMORY = 5,
    /**
     * The instruction is in another LLVM context than the emitter's.
     */
    TBAA_INSTRUCTION_KIND_OTHER_CONTEXT = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tbaa_instruction_kind tbaa_instruction_kind;
#else
typedef uint32_t tbaa_instruction_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Types, tags and an oracle for them. A function that takes a `tbaa_context *` needs exclusive
 * access; functions that take a `const` one may run at the same time.
 */
typedef struct tbaa_context tbaa_context;

/**
 * Passes nodes to one sink: each node once, after its operands. The emitter must not outlive the
 * owner of the sink's nodes, such as the LLVM context.
 */
typedef struct tbaa_emitter tbaa_emitter;

/**
 * Answers queries about the tags of a context or snapshot. Functions that take a `tbaa_oracle`
 * pointer may run on many threads at once.
 */
typedef struct tbaa_oracle tbaa_oracle;

/**
 * Queries the state that a context published. Any thread may use a reader, but only one at a time.
 */
typedef struct tbaa_reader tbaa_reader;

/**
 * Nodes that are not yet in an LLVM context. They never change, and live as long as their
 * `tbaa_context`: threads may share them.
 */
typedef struct tbaa_recording tbaa_recording;

/**
 * A string that somebody else owns: a pointer to its bytes, and their number. It need not end in a
 * NUL. `data` may be NULL if `len` is 0. Names in `tbaa_build_...` calls, operands and the module
 * of `tbaa_tag_module` may be any bytes; all other strings are UTF-8.
 */
typedef struct tbaa_str {
    /**
     * The first byte.
     */
    const char *data;
    /**
     * The number of bytes.
     */
    size_t len;
} tbaa_str;

/**
 * The options of a new context. Zero means C on this machine, clang's policy and LLVM's rule.
 */
typedef struct tbaa_options {
    /**
     * The target: `x86-64`, a triple, or a data layout string. Empty for the machine that the
     * program runs on.
     */
    struct tbaa_str target;
    /**
     * The name of the root of all types. Empty for clang's, so that code may be linked with C.
     */
    struct tbaa_str root;
    /**
     * A `tbaa_policy`.
     */
    uint32_t policy;
    /**
     * A `tbaa_rule`, by which the context's oracle answers.
     */
    uint32_t rule;
    /**
     * True for the types of C++.
     */
    bool cplusplus;
} tbaa_options;

/**
 * A tag: by which type an access reaches memory. 0 means no tag: the access may alias everything.
 */
typedef struct tbaa_tag {
    /**
     * Ids count from 1, in the order in which tags were made: `id - 1` may index a table.
     */
    uint32_t id;
} tbaa_tag;

/**
 * The place that a path leads to: its tag, its bytes and its alignment.
 */
typedef struct tbaa_place {
    /**
     * The tag; 0 if the policy has none, so that the access must stay untagged.
     */
    struct tbaa_tag tag;
    /**
     * The width of a bit-field in bits; 0 for other members.
     */
    uint32_t bit_width;
    /**
     * The first bit of a bit-field, counted from `offset`.
     */
    uint64_t first_bit;
    /**
     * Bytes from the target of the path's last pointer, or from the path's start. Variable indices
     * count as 0.
     */
    uint64_t offset;
    /**
     * The size of the member in bytes; 0 for a flexible array.
     */
    uint64_t size;
    /**
     * The known alignment of the address, in bytes.
     */
    uint64_t align;
    /**
     * True if the path says `volatile`: make the instruction volatile.
     */
    bool is_volatile;
    /**
     * True if the memory is never modified while it can be read.
     */
    bool immutable;
    /**
     * False if the true alignment is unknown, as in a region of any bytes; then `align` is 1.
     */
    bool aligned;
} tbaa_place;

/**
 * A member. `TBAA_MEMBER` and the macros after it fill one in.
 */
typedef struct tbaa_record_member {
    /**
     * The name; empty for an anonymous struct or union, whose members count as the record's own.
     */
    struct tbaa_str name;
    /**
     * The type as C writes it without a name: `unsigned char`, `TValue *`, `int [3][4]`,
     * `double []`, `struct Node *` before `Node` is declared. If it is empty, the member has a
     * scalar type of its own, with the given `size` and `align`.
     */
    struct tbaa_str type_text;
    /**
     * The offset from the start of the record: bytes (`offsetof`), or bits for a bit-field.
     */
    uint64_t offset;
    /**
     * The member's `sizeof`, which is checked against its type; 0 skips the check. The members of
     * an unnamed union (see `TBAA_MEMBER_FLAG_OVERLAPS`) must give it.
     */
    uint64_t size;
    /**
     * The alignment that the declaration requests, in bytes; 0 if it requests none.
     */
    uint64_t align;
    /**
     * The width of a bit-field in bits.
     */
    uint32_t bits;
    /**
     * A mask of `tbaa_member_flag`.
     */
    uint32_t flags;
} tbaa_record_member;

/**
 * A struct or union.
 */
typedef struct tbaa_record {
    /**
     * The name. A record without a name in C needs one here.
     */
    struct tbaa_str name;
    /**
     * The members, in their order.
     */
    const struct tbaa_record_member *members;
    /**
     * The number of members.
     */
    size_t count;
    /**
     * The record's `sizeof`.
     */
    uint64_t size;
    /**
     * The record's `alignof`; 0 for the alignment of its members' types.
     */
    uint64_t align;
    /**
     * A mask of `tbaa_record_flag`.
     */
    uint32_t flags;
} tbaa_record;

/**
 * An access to memory, described by its tag.
 */
typedef struct tbaa_memory_access {
    /**
     * The tag; 0 if nothing is known.
     */
    struct tbaa_tag tag;
    /**
     * A `tbaa_effect`; 0 means both.
     */
    uint32_t kind;
    /**
     * The size in bytes that replaces the tag's, for example for a vector load under the tag of
     * its first lane. 0 for the tag's own size, `UINT64_MAX` for an unknown size.
     */
    uint64_t size;
} tbaa_memory_access;

/**
 * A string that the library made and `tbaa_text_free` frees.
 */
typedef struct tbaa_text {
    /**
     * The first byte. A NUL follows the last.
     */
    char *data;
    /**
     * The number of bytes, without the NUL.
     */
    size_t len;
} tbaa_text;

/**
 * One operand of a node. Fields that its kind does not use are 0 or NULL.
 */
typedef struct tbaa_operand {
    /**
     * A `tbaa_operand_kind`.
     */
    uint32_t kind;
    /**
     * The width of an integer.
     */
    uint32_t bits;
    /**
     * The value of an integer, zero-extended.
     */
    uint64_t value;
    /**
     * The bytes of a string; they live until the callback returns.
     */
    struct tbaa_str bytes;
    /**
     * The callback's result for a node.
     */
    void *node;
} tbaa_operand;

/**
 * Makes a node from its operands and returns it, or NULL on failure. A `distinct` node never
 * equals another; a node with itself as an operand is always distinct. The callback must not call
 * the emitter that calls it, and must not leave by `longjmp` or a C++ exception.
 *
 * LLVM: `MDNode::get`, `MDNode::getDistinct`.
 */
typedef void *(*tbaa_make_node)(void *data,
                                const struct tbaa_operand *operands,
                                size_t count,
                                bool distinct);

/**
 * The destination of nodes. `tbaa-llvm.h` has one for llvm-c.
 */
typedef struct tbaa_sink {
    /**
     * Makes a node.
     */
    tbaa_make_node make_node;
    /**
     * Passed to `make_node`, for example LLVM's context.
     */
    void *data;
} tbaa_sink;

/**
 * The nodes to attach to an access, a call or a struct copy; NULL for none.
 */
typedef struct tbaa_attachments {
    /**
     * `!tbaa`
     */
    void *tag;
    /**
     * `!tbaa.struct`
     */
    void *tbaa_struct;
    /**
     * `!alias.scope`
     */
    void *alias_scope;
    /**
     * `!noalias`
     */
    void *noalias;
} tbaa_attachments;

/**
 * A `tbaa.struct` node: the accesses that a copy of a struct makes. 0 means no node.
 */
typedef struct tbaa_copy {
    /**
     * Ids count from 1, with gaps.
     */
    uint32_t id;
} tbaa_copy;

/**
 * A type node. `tbaa_type` and `tbaa_tag` are different C types, so that neither can be passed for
 * the other. 0 means no type.
 */
typedef struct tbaa_type {
    /**
     * Ids count from 1, with gaps.
     */
    uint32_t id;
} tbaa_type;

/**
 * A field of a type.
 */
typedef struct tbaa_field {
    /**
     * The field's type, or the type of the elements if the field is an array.
     */
    struct tbaa_type node;
    /**
     * Bytes from the start of the type that contains the field.
     */
    uint64_t offset;
    /**
     * The bytes of the field, including all elements of an array; 0 for a flexible array.
     * `tbaa_build_struct_type` ignores it.
     */
    uint64_t size;
} tbaa_field;

/**
 * One access of a struct copy.
 */
typedef struct tbaa_part {
    /**
     * The tag of the access.
     */
    struct tbaa_tag tag;
    /**
     * Bytes from the start of the copied memory.
     */
    uint64_t offset;
    /**
     * The number of bytes copied.
     */
    uint64_t size;
} tbaa_part;

/**
 * A front end's description of its struct types, by their LLVM names, such as `struct.Point`. A
 * zeroed description names no types. Use the same description for all modules of a program.
 */
typedef struct tbaa_tagging {
    /**
     * Also tag elements of arrays and scalars behind plain pointers, by their scalar type. The
     * program then promises not to zero or copy this memory in words of another type.
     */
    bool elements;
    /**
     * Structs that are types of their own. By default, structs whose members have the same types
     * and offsets share one type.
     */
    const struct tbaa_str *nominal;
    /**
     * The number of nominal structs.
     */
    size_t nominal_count;
    /**
     * Groups of structs that share memory, as the members of a union do. Each string names the
     * structs of one group, separated by commas.
     */
    const struct tbaa_str *unions;
    /**
     * The number of groups.
     */
    size_t union_count;
    /**
     * Structs whose accesses get no tag.
     */
    const struct tbaa_str *opaque;
    /**
     * The number of opaque structs.
     */
    size_t opaque_count;
} tbaa_tagging;

/**
 * A callback that attaches a tag to an instruction. `function` is the function's index among those
 * with a body, and `instruction` is the instruction's index in that function. Both count from 0.
 * The library calls it in the order of the instructions in the module.
 */
typedef void (*tbaa_attach_tag)(void *data, uint32_t function, uint32_t instruction, void *tag);

/**
 * The memory to which a function writes its result; `None` for NULL.
 */
typedef struct tbaa_text *Out_Text;

/**
 * The options of a context's tags. All zero is the default.
 */
typedef struct tbaa_tag_options {
    /**
     * The name of the type system of this context's tags, which is called a lineage. If it is
     * empty, the library makes a unique name. A fixed name makes the emitted code the same in each
     * run. Then no other context may use the name, in any process whose code may be linked with
     * this code.
     */
    struct tbaa_str lineage;
    /**
     * A `tbaa_tag_form`.
     */
    uint32_t form;
    /**
     * The names of records that C code also accesses, with clang's own tags, in modules that are
     * linked with code that has this context's tags.
     */
    const struct tbaa_str *shared;
    /**
     * The number of names in `shared`.
     */
    size_t shared_count;
} tbaa_tag_options;

/**
 * The place of a path, and the nodes for accesses to it. It never changes, lives as long as its
 * `tbaa_context`, and may be used by any thread.
 */
typedef struct tbaa_tagged {
    /**
     * Offset, size and alignment; all 0 for a call.
     */
    struct tbaa_place place;
    /**
     * The nodes to attach.
     */
    const struct tbaa_recording *nodes;
} tbaa_tagged;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the `TBAA_ABI_VERSION` of the library that is loaded. A program that opens the library
 * at run time compares it with its header's.
 */
uint32_t tbaa_abi_version(void);

/**
 * Returns the library's version, such as `0.1.0`. It lives as long as the program.
 */
struct tbaa_str tbaa_version(void);

/**
 * Makes a context in which only C's own types are declared. NULL means options of zero. Free it
 * with `tbaa_context_free`.
 */
tbaa_status tbaa_context_new(const struct tbaa_options *options, struct tbaa_context **context);

/**
 * Makes a context from the text of a spec in RON: see `docs/specs.md`. `tbaa_tag_of` also accepts
 * the names of the spec's tags. `rule` is a `tbaa_rule`; the default is the spec's own. Errors in
 * the spec are reported with line and column.
 */
tbaa_status tbaa_context_load(struct tbaa_str spec, uint32_t rule, struct tbaa_context **context);

/**
 * Frees a context and its oracle, but not its snapshots and readers. NULL is not an error.
 */
void tbaa_context_free(struct tbaa_context *context);

/**
 * Returns a context's oracle, which always knows all tags of the context: use it on the thread
 * that adds to the context. The oracle belongs to the context, lives as long, and must not be used
 * while another thread changes the context; for that case use `tbaa_context_snapshot`. Returns
 * NULL for NULL.
 */
const struct tbaa_oracle *tbaa_context_oracle(const struct tbaa_context *context);

/**
 * Gives the tag of an access by its path, such as `CallInfo.l.base`, `Table.array[*].tt`,
 * `*double`, `immutable Proto.code`. After `tbaa_context_load`, a tag's name is also a path.
 * `docs/declare.md` describes paths. The same path always has the same tag, so store it.
 */
tbaa_status tbaa_tag_of(struct tbaa_context *context, struct tbaa_str path, struct tbaa_tag *tag);

/**
 * Gives the tags of several paths, as `tbaa_tag_of` does, in their order. If a path has no tag,
 * the error names the path, and no tag is written.
 */
tbaa_status tbaa_tags_of(struct tbaa_context *context,
                         const struct tbaa_str *paths,
                         size_t count,
                         struct tbaa_tag *tags);

/**
 * Gives the tag, offset, size and alignment for a path. A path without a tag is not an error here.
 */
tbaa_status tbaa_place_of(struct tbaa_context *context,
                          struct tbaa_str path,
                          struct tbaa_place *place);

/**
 * Declares a struct or union with the C compiler's offsets and sizes. They are checked against the
 * members' types. A misplaced or overlapping member, a wrong size, or a second record of the same
 * name is an error.
 */
tbaa_status tbaa_declare(struct tbaa_context *context, const struct tbaa_record *record);

/**
 * Declares a scalar type of `size` bytes. Its parent in the type tree is the scalar `parent`,
 * which may alias it, such as C's `char`, which aliases everything.
 */
tbaa_status tbaa_declare_scalar(struct tbaa_context *context,
                                struct tbaa_str name,
                                uint64_t size,
                                uint64_t align,
                                struct tbaa_str parent);

/**
 * Declares a region: memory of a runtime, such as a linear memory, a stack, a table or the arrays
 * of numbers. Only accesses to the same region or to C's `char` may overlap it. The path `*name`
 * means an access to any number of the region's elements. `element` is a scalar or pointer type.
 * If it is empty, the region holds bytes of any type at any alignment. If two regions may be the
 * same object, as imported memories may be, declare one region and give it the second name with
 * `tbaa_declare_alias`. It is no error to declare a region again with the same elements.
 */
tbaa_status tbaa_declare_region(struct tbaa_context *context,
                                struct tbaa_str name,
                                struct tbaa_str element);

/**
 * Declares an enum whose values have the type `integer`. In C that is `unsigned int` if no value
 * is negative.
 */
tbaa_status tbaa_declare_enum(struct tbaa_context *context,
                              struct tbaa_str name,
                              struct tbaa_str integer);

/**
 * Gives a type another name, as C's `typedef` does.
 */
tbaa_status tbaa_declare_alias(struct tbaa_context *context,
                               struct tbaa_str name,
                               struct tbaa_str type_text);

/**
 * Gives the size of a type on the target, in bytes.
 */
tbaa_status tbaa_size_of(struct tbaa_context *context, struct tbaa_str type_text, uint64_t *size);

/**
 * Explains why two accesses may overlap or cannot. The first line is the answer; then follow the
 * condition that decided, and the compared paths and bytes. Free the text with `tbaa_text_free`.
 */
tbaa_status tbaa_explain(const struct tbaa_oracle *oracle,
                         struct tbaa_memory_access a,
                         struct tbaa_memory_access b,
                         struct tbaa_text *text);

/**
 * Writes all tags, types and `tbaa.struct` nodes as text in a format of `tbaa_dump_format`. Free
 * the text with `tbaa_text_free`.
 */
tbaa_status tbaa_dump(const struct tbaa_oracle *oracle, uint32_t format, struct tbaa_text *text);

/**
 * Makes an emitter. Make one for each LLVM context, on the thread that uses the context, and free
 * it with `tbaa_emitter_free` before the context.
 */
tbaa_status tbaa_emitter_new(const struct tbaa_sink *sink, struct tbaa_emitter **emitter);

/**
 * Returns the `data` of the emitter's sink: for `tbaa_llvm_sink` the LLVM context.
 */
void *tbaa_emitter_data(const struct tbaa_emitter *emitter);

/**
 * Frees an emitter, but not its nodes, which belong to the sink. NULL is not an error.
 */
void tbaa_emitter_free(struct tbaa_emitter *emitter);

/**
 * Emits the node of an access's tag, which the oracle must know; no node for an access without a
 * tag. A tag that LLVM would reject, crash on or get wrong gives `TBAA_STATUS_REFUSED`: use
 * `tbaa_places` to get tags that LLVM gets right, or leave the access untagged. Also refused are
 * an access with a nonzero `size`, which LLVM ignores, and one that may write immutable memory.
 *
 * The emitter remembers the nodes of each oracle separately. So it emits a context's nodes again
 * for a snapshot of it, and LLVM takes an anonymous root in the snapshot for a different root.
 */
tbaa_status tbaa_emit_access(struct tbaa_emitter *emitter,
                             const struct tbaa_oracle *oracle,
                             struct tbaa_memory_access access,
                             struct tbaa_attachments *nodes);

/**
 * Emits the `tbaa.struct` node of a copy of a struct.
 */
tbaa_status tbaa_emit_copy(struct tbaa_emitter *emitter,
                           const struct tbaa_oracle *oracle,
                           struct tbaa_copy copy,
                           struct tbaa_attachments *nodes);

/**
 * Puts a call into the library `libtbaa_witness`, which checks tags, before each tagged access of
 * a module, and writes the module's new text. The module is assembly text with opaque pointers
 * (LLVM 15 or later). Free the new text with `tbaa_text_free`. Instrument before optimizing.
 *
 * Unless `skipped` is NULL, it becomes a text with a line for each instruction or function that is
 * not checked: its line in `module`, the function, and why. Free it likewise.
 */
tbaa_status tbaa_instrument(struct tbaa_str module,
                            struct tbaa_text *instrumented,
                            struct tbaa_text *skipped);

/**
 * Makes a named root, or finds it. Types under roots of different names may alias.
 *
 * LLVM: `MDBuilder::createTBAARoot`.
 */
tbaa_status tbaa_build_root(struct tbaa_context *context,
                            struct tbaa_str name,
                            struct tbaa_type *root);

/**
 * Makes a root that no other module shares.
 *
 * LLVM: `MDBuilder::createAnonymousTBAARoot`.
 */
tbaa_status tbaa_build_anonymous_root(struct tbaa_context *context, struct tbaa_type *root);

/**
 * Makes a scalar type of the old format under a root or a scalar.
 *
 * LLVM: `MDBuilder::createTBAAScalarTypeNode`.
 */
tbaa_status tbaa_build_scalar_type(struct tbaa_context *context,
                                   struct tbaa_str name,
                                   struct tbaa_type parent,
                                   struct tbaa_type *node);

/**
 * Makes a struct type of the old format. Fields must be in the order of their offsets; fields at
 * one offset form a union.
 *
 * LLVM: `MDBuilder::createTBAAStructTypeNode`.
 */
tbaa_status tbaa_build_struct_type(struct tbaa_context *context,
                                   struct tbaa_str name,
                                   const struct tbaa_field *fields,
                                   size_t count,
                                   struct tbaa_type *node);

/**
 * Makes a type of the size-aware format with `size` bytes: a scalar if it has no fields, otherwise
 * a struct, or a union if fields overlap.
 *
 * LLVM: `MDBuilder::createTBAATypeNode`.
 */
tbaa_status tbaa_build_sized_type(struct tbaa_context *context,
                                  struct tbaa_str name,
                                  struct tbaa_type parent,
                                  uint64_t size,
                                  const struct tbaa_field *fields,
                                  size_t count,
                                  struct tbaa_type *node);

/**
 * Makes a tag of the old format: an access to the scalar `access` at `offset` bytes in `base`. For
 * a variable outside any struct, `base` and `access` are the same type.
 *
 * LLVM: `MDBuilder::createTBAAStructTagNode`.
 */
tbaa_status tbaa_build_struct_tag(struct tbaa_context *context,
                                  struct tbaa_type base,
                                  struct tbaa_type access,
                                  uint64_t offset,
                                  bool immutable,
                                  struct tbaa_tag *tag);

/**
 * Makes a tag of the size-aware format. `size` is the access's bytes, 0 if unknown. The access may
 * be to a whole struct.
 *
 * LLVM: `MDBuilder::createTBAAAccessTag`.
 */
tbaa_status tbaa_build_access_tag(struct tbaa_context *context,
                                  struct tbaa_type base,
                                  struct tbaa_type access,
                                  uint64_t offset,
                                  uint64_t size,
                                  bool immutable,
                                  struct tbaa_tag *tag);

/**
 * Gives a tag like `tag`, but without the promise that its memory is never modified.
 *
 * LLVM: `MDBuilder::createMutableTBAAAccessTag`.
 */
tbaa_status tbaa_build_mutable_tag(struct tbaa_context *context,
                                   struct tbaa_tag tag,
                                   struct tbaa_tag *without);

/**
 * Makes a `tbaa.struct` node: the accesses that a copy of a struct makes, by ascending offset and
 * without overlap.
 *
 * LLVM: `MDBuilder::createTBAAStructNode`.
 */
tbaa_status tbaa_build_copy(struct tbaa_context *context,
                            const struct tbaa_part *parts,
                            size_t count,
                            struct tbaa_copy *copy);

/**
 * Gives the tag for one access that replaces accesses with tags `a` and `b`, by the context's
 * rule. It is 0 if no tag can express this; then the access must stay untagged.
 *
 * LLVM: `MDNode::getMostGenericTBAA`.
 */
tbaa_status tbaa_build_merged_tag(struct tbaa_context *context,
                                  struct tbaa_tag a,
                                  struct tbaa_tag b,
                                  struct tbaa_tag *merged);

/**
 * Returns whether two accesses with these tags may overlap. In doubt it returns true: without a
 * tag, for a tag that is malformed or unknown to the oracle, for different roots, and for a NULL
 * oracle.
 *
 * It reads a few words of tables and allocates nothing, except for the few tags that
 * `docs/rules.md` lists under "Limits".
 *
 * LLVM: `TypeBasedAAResult::alias`.
 */
bool tbaa_may_alias(const struct tbaa_oracle *oracle, struct tbaa_tag a, struct tbaa_tag b);

/**
 * Returns whether two accesses may overlap, as `tbaa_may_alias` does. `TBAA_RULE_UNION` and
 * `TBAA_RULE_UNION_STRICT` use an access's own `size`; LLVM's rule ignores it.
 */
bool tbaa_access_may_alias(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access a,
                           struct tbaa_memory_access b);

/**
 * Returns the possible dependences of a second access on a first, as bits of `tbaa_conflict`: 0 if
 * they cannot overlap, or both only read. All bits for a NULL oracle.
 */
uint32_t tbaa_may_conflict(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access first,
                           struct tbaa_memory_access second);

/**
 * Returns a call's effects on the memory of an access, as bits of `tbaa_effect`: 0 if the call
 * does not touch that memory. `effects` lists all accesses that the call may make. If nothing is
 * known about the call, pass one effect with tag 0.
 *
 * The access's own effect is ignored. Both bits for a NULL oracle, or if the effects are NULL and
 * their count is not 0.
 *
 * LLVM: `AAResults::getModRefInfo`.
 */
uint32_t tbaa_call_effects(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access access,
                           const struct tbaa_memory_access *effects,
                           size_t count);

/**
 * Returns whether a tag promises that its memory is never modified while it can be read. False in
 * any doubt.
 *
 * LLVM: `TypeBasedAAResult::getModRefInfoMask`.
 */
bool tbaa_is_constant(const struct tbaa_oracle *oracle, struct tbaa_tag tag);

/**
 * Returns the number of tags that the oracle knows: their ids are 1 to this number.
 */
uint32_t tbaa_tag_count(const struct tbaa_oracle *oracle);

/**
 * Makes a reader. With it, another thread queries the context's tags by the context's rule, while
 * this thread adds more tags. No function that takes a reader waits for anything. A reader may
 * outlive the context. Free it with `tbaa_reader_free`.
 */
tbaa_status tbaa_reader_new(struct tbaa_context *context, struct tbaa_reader **reader);

/**
 * Publishes all tags of the context to its readers. Call it before the tags are passed to other
 * threads, for example once for each compiled function. It takes one to three times as long as
 * adding the tags took. Besides the context's own tables of tags, there are two copies of the
 * tables, and one more for each reader that lags behind.
 */
tbaa_status tbaa_context_publish(struct tbaa_context *context);

/**
 * Frees a reader. NULL is not an error.
 */
void tbaa_reader_free(struct tbaa_reader *reader);

/**
 * Answers as `tbaa_may_alias`, for the published state. An unknown tag makes the reader take the
 * newest published state. A tag that is not published may alias everything.
 */
bool tbaa_reader_may_alias(struct tbaa_reader *reader, struct tbaa_tag a, struct tbaa_tag b);

/**
 * Answers as `tbaa_access_may_alias`, for the published state.
 */
bool tbaa_reader_access_may_alias(struct tbaa_reader *reader,
                                  struct tbaa_memory_access a,
                                  struct tbaa_memory_access b);

/**
 * Answers as `tbaa_may_conflict`, for the published state.
 */
uint32_t tbaa_reader_may_conflict(struct tbaa_reader *reader,
                                  struct tbaa_memory_access first,
                                  struct tbaa_memory_access second);

/**
 * Takes the newest published state, and returns whether it is newer than the reader's. A reader
 * that is idle, or asks only about old tags, keeps an old copy of the tables until this is called.
 */
bool tbaa_reader_catch_up(struct tbaa_reader *reader);

/**
 * Makes a snapshot: an oracle of the tags that the context has now. It never changes, may outlive
 * the context, and may be used by any number of threads while one thread adds to the context. The
 * context's ids mean the same in it. A tag added later may alias everything in the snapshot.
 *
 * `rule` is a `tbaa_rule`, and may differ from the context's own. If an earlier snapshot by that
 * rule was released, the call takes time proportional to the additions since then, otherwise to
 * the whole graph. Release the snapshot with `tbaa_oracle_release`.
 */
tbaa_status tbaa_context_snapshot(struct tbaa_context *context,
                                  uint32_t rule,
                                  const struct tbaa_oracle **snapshot);

/**
 * Adds a holder to a snapshot, and returns the snapshot, which must be released once more. A
 * context's own oracle is returned uncounted.
 */
const struct tbaa_oracle *tbaa_oracle_retain(const struct tbaa_oracle *oracle);

/**
 * Releases a snapshot; the last holder frees it. NULL and a context's own oracle are ignored. Any
 * thread may call it.
 */
void tbaa_oracle_release(const struct tbaa_oracle *oracle);

/**
 * Returns the message of the last failed call on this thread: lowercase, mostly one line, with the
 * remedy. Empty if no call has failed. It lives until the next call on this thread fails.
 */
struct tbaa_str tbaa_last_error(void);

/**
 * Returns a status in words, such as `unknown id`, or `unknown status`. It lives as long as the
 * program.
 */
struct tbaa_str tbaa_status_name(uint32_t status);

/**
 * Finds tags for the loads and stores of a module from the members that its getelementptrs select,
 * and passes each tag to `attach`. The module is assembly text from the front end, before any of
 * LLVM's passes. `tbaa_llvm_tag_module` does this for a module of llvm-c.
 *
 * The program makes this promise about any two accesses that reach the same bytes through
 * getelementptrs while one value lives there. Both use the same scalar type. Their structs have
 * the same LLVM types, in the same order and nesting, up to the accessed member, or one struct is
 * declared inside the other.
 *
 * Unless `summary` is NULL, it becomes a text with one line for each reason why accesses have no
 * tag: their number and the reason. Free it with `tbaa_text_free`.
 */
tbaa_status tbaa_tag_module(struct tbaa_emitter *emitter,
                            struct tbaa_str module,
                            const struct tbaa_tagging *tagging,
                            tbaa_attach_tag attach,
                            void *data,
                            Out_Text summary);

/**
 * Sets the options of the tags of a context with `TBAA_POLICY_RFC`. Call it before the first place
 * is requested, or not at all.
 */
tbaa_status tbaa_context_tag_options(struct tbaa_context *context,
                                     const struct tbaa_tag_options *options);

/**
 * Gives the places of paths, with the metadata for accesses to them (see `tbaa_tag_form`). A path
 * that only names a record is the whole record, as a copy accesses it. Request all places that are
 * known at the start in one call: their tags then separate the most accesses. More may follow
 * later, and earlier results stay valid. On an error nothing is written.
 */
tbaa_status tbaa_places(struct tbaa_context *context,
                        const struct tbaa_str *paths,
                        size_t count,
                        struct tbaa_tagged *places);

/**
 * Gives the place of a path for accesses of `size` bytes. They may exceed the place, as an access
 * to a vector that begins there does. `UINT64_MAX` means a varying size: the result is then valid
 * for accesses of any size.
 */
tbaa_status tbaa_place_sized(struct tbaa_context *context,
                             struct tbaa_str path,
                             uint64_t size,
                             struct tbaa_tagged *place);

/**
 * Gives the metadata of a call. The call reads and writes the memory of `touched` (paths),
 * allocates or frees objects of the types `memory`, and touches nothing else that others access.
 * With one path and no types, the metadata is the path's tag. If the context's `tbaa_tag_form` has
 * scopes, the call also gets scopes for all places that the call does not touch.
 *
 * An allocator must name the type of each object that it may free, and of each object that may
 * later use the bytes: LLVM moves the last stores to a freed object past a call that does not
 * touch it. If a callee reallocates, collects garbage or calls back, `touched` must include
 * whatever these operations touch.
 */
tbaa_status tbaa_call_touching(struct tbaa_context *context,
                               const struct tbaa_str *touched,
                               size_t touched_count,
                               const struct tbaa_str *memory,
                               size_t memory_count,
                               struct tbaa_tagged *call);

/**
 * Emits the metadata of an instruction that accesses a place, or of a call. `kind` is a
 * `tbaa_instruction_kind`. `size` is the accessed bytes, 0 if unknown, `UINT64_MAX` if they vary.
 * The result is `TBAA_STATUS_REFUSED`, with the remedy, for a store to immutable memory, and for
 * an access that is wider than its place and not a run of whole elements. A path that ends at an
 * element (`[*]`), or a type alone, allows runs. A copy or fill of unknown size must be a run,
 * unless the place ends in a flexible array. `tbaa-llvm.h` calls this for an instruction.
 *
 * The function takes no lock. Many threads may use the place, but only one may use the emitter.
 */
tbaa_status tbaa_emit_tagged(struct tbaa_emitter *emitter,
                             const struct tbaa_tagged *tagged,
                             uint32_t kind,
                             uint64_t size,
                             struct tbaa_attachments *nodes);

/**
 * Checks whether an access of `size` bytes may have a place's tag. The access consists of one or
 * more values of `element` bytes each. The result is `TBAA_STATUS_REFUSED`, with the remedy, if it
 * may not. `pointer` is true if each value is a pointer, whose size comes from the module's data
 * layout. `tbaa-llvm.h` calls this.
 */
tbaa_status tbaa_check_element(const struct tbaa_tagged *tagged,
                               uint64_t size,
                               uint64_t element,
                               bool pointer);

/**
 * Frees a string that the library made, and clears it, so that it may be freed again. NULL is not
 * an error.
 */
void tbaa_text_free(struct tbaa_text *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TBAA_H */

#if !defined(TBAA_NO_INLINE) && !defined(TBAA_INLINE_H)
#define TBAA_INLINE_H
#include <string.h>

/* Returns the string of bytes before a NUL. */
static inline tbaa_str tbaa_cstr(const char *text) {
    tbaa_str str;
    str.data = text;
    str.len = text == NULL ? 0 : strlen(text);
    return str;
}

/* Returns an access of a tag's own size; `kind` is one of tbaa_effect. */
static inline tbaa_memory_access tbaa_access(tbaa_tag tag, uint32_t kind) {
    tbaa_memory_access access;
    access.tag = tag;
    access.kind = kind;
    access.size = 0;
    return access;
}

/* Returns the options of a context whose tags go to LLVM, including unions: see tbaa_places. */
static inline tbaa_options tbaa_options_for_llvm(void) {
    tbaa_options options;
    memset(&options, 0, sizeof options);
    options.policy = TBAA_POLICY_RFC;
    options.rule = TBAA_RULE_UNION;
    return options;
}

/* Returns the id of no tag: the access may be to anything. */
static inline tbaa_tag tbaa_no_tag(void) {
    tbaa_tag tag;
    tag.id = 0;
    return tag;
}
#endif
