/* libtbaa: type-based alias analysis for compilers. The guide is docs/embed-c.md.
 * This file is written by cbindgen: do not edit it.
 *
 * Nodes, as LLVM's MDBuilder makes them, and what they say of two accesses:
 *
 *     tbaa_context_new(&options, &context);
 *     tbaa_build_scalar_type(context, name, parent, &type);  tbaa_build_struct_type(...)
 *     tbaa_build_struct_tag(context, base, access, offset, immutable, &tag);
 *     tbaa_may_alias(tbaa_context_oracle(context), tag_a, tag_b)
 *     tbaa_dump(oracle, TBAA_DUMP_FORMAT_LLVM, &text);       tbaa_emit_access(...)
 *
 * Declared types, and what LLVM gets for accesses to them, unions and all:
 *
 *     tbaa_options options = tbaa_options_for_llvm();        tbaa_context_new(...)
 *     tbaa_declare(context, &record);
 *     tbaa_places(context, paths, count, places);
 *     tbaa_emitter_new(&sink, &emitter);                     (tbaa_llvm_sink of tbaa-llvm.h)
 *     tbaa_llvm_tag(emitter, &places[i], load_or_store);     (tbaa-llvm.h)
 *
 * Threads: functions that take a `const` context or oracle may run on many threads at
 * once. Others need what they take for themselves. Other threads may use another context,
 * or a snapshot or reader of this one, meanwhile.
 *
 * Errors: a function that can fail returns a status, and writes its results only when that
 * is TBAA_STATUS_OK. tbaa_last_error has the text, for each thread its own. Functions that
 * answer questions cannot fail: in any doubt accesses may overlap. NULL is an error where
 * nothing is said of it, never a crash, and so is a number that no enumeration has.
 *
 * Ids are small numbers, good in the context that made them and in all its snapshots. 0 is
 * none. The library cannot tell an id of another context from its own, if it has one of that
 * number. Strings are bytes and their number; results live as long as is said there.
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

/* The same, never modified while it can be read. */
#define TBAA_IMMUTABLE_MEMBER(record, member, type_name)                                         \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member),                           \
     sizeof(((record *)0)->member), 0, 0, TBAA_MEMBER_FLAG_IMMUTABLE}

/* A flexible array member, which has no size: TBAA_FLEXIBLE(Proto, code, "int []"). */
#define TBAA_FLEXIBLE(record, member, type_name)                                                 \
    {TBAA_STR(#member), TBAA_STR(type_name), offsetof(record, member), 0, 0, 0, 0}

/* A bit-field, for which there is no offsetof: the place of its first bit. */
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
 * Counts the changes of this interface that a compiled program would notice.
 * The shared library's name ends in it: `libtbaa.so.1`.
 */
#define TBAA_ABI_VERSION 1

/**
 * What came of a call. Where it is not `TBAA_STATUS_OK`, nothing was written
 * to out-parameters, and `tbaa_last_error` says what is wrong and what to do.
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
     * A NULL where none may be, a number that no constant has, text that is
     * not UTF-8, or an array without end.
     */
    TBAA_STATUS_INVALID_ARGUMENT = 1,
    /**
     * An id that this context or oracle did not issue.
     */
    TBAA_STATUS_UNKNOWN_ID = 2,
    /**
     * A declaration that C would not accept, or whose offsets or sizes are
     * not those of its types.
     */
    TBAA_STATUS_DECLARATION = 3,
    /**
     * A path that leads nowhere.
     */
    TBAA_STATUS_PATH = 4,
    /**
     * The policy has no tag for what a path leads to: the access goes without.
     */
    TBAA_STATUS_UNTAGGED = 5,
    /**
     * A spec that cannot be read.
     */
    TBAA_STATUS_SPEC = 6,
    /**
     * Nodes that the builder refuses to make.
     */
    TBAA_STATUS_BUILD = 7,
    /**
     * A tag that LLVM would reject, crash on or get wrong.
     */
    TBAA_STATUS_REFUSED = 8,
    /**
     * A callback said that it failed.
     */
    TBAA_STATUS_SINK = 9,
    /**
     * The format cannot say what the graph holds.
     */
    TBAA_STATUS_UNWRITABLE = 10,
    /**
     * A defect of the library. The context it was given can only be freed.
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
 * By which rule questions are answered: `docs/rules.md` says which one wants.
 */
enum tbaa_rule
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * A spec's own rule; otherwise LLVM's.
     */
    TBAA_RULE_DEFAULT = 0,
    /**
     * What LLVM 22 answers, bit for bit.
     */
    TBAA_RULE_LLVM = 1,
    /**
     * Every member of a union is followed, and bytes count.
     */
    TBAA_RULE_UNION = 2,
    /**
     * As that, but a union is only accessed by name.
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
 * What an access, or a call, does to memory: bits of a mask.
 */
enum tbaa_effect
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It loads.
     */
    TBAA_EFFECT_READ = 1,
    /**
     * It stores.
     */
    TBAA_EFFECT_WRITE = 2,
    /**
     * Both, or not known; so does 0 in a `tbaa_memory_access`.
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
 * Which dependences may hold between an access and one after it: bits of a
 * mask.
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
 * How declared types become TBAA.
 */
enum tbaa_policy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * As clang 22, and what links with C. A member of a union is `char`, which may
     * alias everything: for LLVM take `tbaa_options_for_llvm`.
     */
    TBAA_POLICY_CLANG = 0,
    /**
     * Unions are types with overlapping members. For the union rules; never
     * for LLVM, unless lowered.
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
 * What is said of a member beside its type: bits of a mask.
 */
enum tbaa_member_flag
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It is never modified while it can be read: a promise, on which LLVM
     * builds.
     */
    TBAA_MEMBER_FLAG_IMMUTABLE = 1,
    /**
     * It is not aligned.
     */
    TBAA_MEMBER_FLAG_PACKED = 2,
    /**
     * It is a base class, without a name.
     */
    TBAA_MEMBER_FLAG_BASE = 4,
    /**
     * It is a bit-field; `offset` counts bits.
     */
    TBAA_MEMBER_FLAG_BIT_FIELD = 8,
    /**
     * It shares bytes with the member before it: both are in a union without a name, and so are
     * those behind it that share bytes with them.
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
 * What is said of a record beside its members: bits of a mask.
 */
enum tbaa_record_flag
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It is a union.
     */
    TBAA_RECORD_FLAG_UNION = 1,
    /**
     * Its members are not aligned.
     */
    TBAA_RECORD_FLAG_PACKED = 2,
    /**
     * Accesses to its members may alias everything.
     */
    TBAA_RECORD_FLAG_MAY_ALIAS = 4,
    /**
     * Offsets and size are not given but computed, as the compiler of the
     * target would: for a target other than this machine.
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
     * Attributes of MLIR's LLVM dialect; of the old format only.
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
 * What an operand of a node is.
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
     * A node that the callback made.
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
 * What LLVM gets for accesses under policy `rfc`. Under policy `clang` it gets the
 * tags as they are.
 */
enum tbaa_tag_form
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Lowered tags, which LLVM gets right.
     */
    TBAA_TAG_FORM_LOWERED = 0,
    /**
     * The same, and scopes of all pairs: a call that touches several places gets
     * scopes too.
     */
    TBAA_TAG_FORM_LOWERED_SCOPES = 1,
    /**
     * Scopes of all pairs, and no tags.
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
 * What an instruction does, for what it gets.
 */
enum tbaa_instruction_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It loads.
     */
    TBAA_INSTRUCTION_KIND_LOAD = 0,
    /**
     * It stores, or does both at once.
     */
    TBAA_INSTRUCTION_KIND_STORE = 1,
    /**
     * It calls.
     */
    TBAA_INSTRUCTION_KIND_CALL = 2,
    /**
     * It copies or fills memory, such as `llvm.memcpy`, or is another intrinsic that accesses
     * memory, such as `llvm.masked.store`.
     */
    TBAA_INSTRUCTION_KIND_COPY = 3,
    /**
     * Something else, which LLVM does not let have a tag.
     */
    TBAA_INSTRUCTION_KIND_NONE = 4,
    /**
     * It calls with an argument that is memory, which the call copies or fills by itself:
     * `byval`, `sret`, `inalloca`, `preallocated`.
     */
    TBAA_INSTRUCTION_KIND_OWN_MEMORY = 5,
    /**
     * It is in another LLVM context than the emitter's.
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
 * Types, tags and an oracle that knows them. Functions that take a `tbaa_context
 * *` need it for themselves; with a `const` one they may run at the same time.
 */
typedef struct tbaa_context tbaa_context;

/**
 * Hands nodes to one sink, each once, operands first: what grows costs only what
 * is new. It lives no longer than what the sink's nodes live in.
 */
typedef struct tbaa_emitter tbaa_emitter;

/**
 * Answers questions about the tags of one graph. Functions that take a `const
 * tbaa_oracle *` may run on many threads at once.
 */
typedef struct tbaa_oracle tbaa_oracle;

/**
 * Asks what a context published. One thread at a time may use it; which one does
 * not matter.
 */
typedef struct tbaa_reader tbaa_reader;

/**
 * Nodes that are in no LLVM context yet. They never change, and live as long as
 * their context: threads may share them.
 */
typedef struct tbaa_recording tbaa_recording;

/**
 * A string that somebody else owns: bytes and their number. It need not end in
 * a NUL. `data` may be NULL where `len` is 0. Names of types may hold any
 * bytes; all other strings are UTF-8.
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
 * What a context is made for. All zero is C on this machine, for LLVM.
 */
typedef struct tbaa_options {
    /**
     * A target, such as `x86-64` or a triple, or a data layout string. Empty
     * for the machine that the program runs on.
     */
    struct tbaa_str target;
    /**
     * The name of the root of all types. Empty for clang's, so that tags may
     * be linked with C's.
     */
    struct tbaa_str root;
    /**
     * Of `tbaa_policy`.
     */
    uint32_t policy;
    /**
     * Of `tbaa_rule`: what `tbaa_context_oracle` answers by.
     */
    uint32_t rule;
    /**
     * Whether the types are those of C++.
     */
    bool cplusplus;
} tbaa_options;

/**
 * A tag: what one access says of its type. 0 is no tag, of which nothing is
 * known: it may alias everything.
 */
typedef struct tbaa_tag {
    /**
     * Dense from 1, in order of first use: `id - 1` may index a table.
     */
    uint32_t id;
} tbaa_tag;

/**
 * Where a path leads, for the code that accesses it.
 */
typedef struct tbaa_place {
    /**
     * The tag; 0 where the policy has none, and the access goes without.
     */
    struct tbaa_tag tag;
    /**
     * The width of a bit-field; 0 of all else.
     */
    uint32_t bit_width;
    /**
     * The first bit of a bit-field, counted from where `offset` is.
     */
    uint64_t first_bit;
    /**
     * Bytes from what the path's last pointer points to, or from its start.
     * Indices that are no constants count as 0.
     */
    uint64_t offset;
    /**
     * Bytes of what is there; 0 of a flexible array.
     */
    uint64_t size;
    /**
     * The alignment known of the address, in bytes.
     */
    uint64_t align;
    /**
     * Whether the path says `volatile`, which is for the instruction.
     */
    bool is_volatile;
    /**
     * Whether the memory is never modified while it can be read.
     */
    bool immutable;
    /**
     * True if the types say the alignment. If not, `align` is 1: a region of any bytes.
     */
    bool aligned;
} tbaa_place;

/**
 * A member. `TBAA_MEMBER` and its like fill one in.
 */
typedef struct tbaa_record_member {
    /**
     * The name; empty for an anonymous struct or union, whose members count as
     * the record's own.
     */
    struct tbaa_str name;
    /**
     * The type as C writes it without a name: `unsigned char`, `TValue *`,
     * `int [3][4]`, `double []`, `struct Node *` before `Node` is declared. Empty for one of which
     * only `size` and `align` are known: a scalar of its own.
     */
    struct tbaa_str type_text;
    /**
     * Bytes from the start of the record: `offsetof`. Of a bit-field, bits.
     */
    uint64_t offset;
    /**
     * What `sizeof` says of the member, which is checked; 0 to leave that.
     */
    uint64_t size;
    /**
     * The alignment that the declaration asks for, in bytes; 0 if it does not.
     */
    uint64_t align;
    /**
     * The width of a bit-field.
     */
    uint32_t bits;
    /**
     * Of `tbaa_member_flag`.
     */
    uint32_t flags;
} tbaa_record_member;

/**
 * A struct or union.
 */
typedef struct tbaa_record {
    /**
     * The name. One without a name in C needs one here.
     */
    struct tbaa_str name;
    /**
     * The members, as they stand.
     */
    const struct tbaa_record_member *members;
    /**
     * The number of members.
     */
    size_t count;
    /**
     * What `sizeof` says of the record.
     */
    uint64_t size;
    /**
     * What `alignof` says of it; 0 for what its members' types say.
     */
    uint64_t align;
    /**
     * Of `tbaa_record_flag`.
     */
    uint32_t flags;
} tbaa_record;

/**
 * An access to memory, as far as types say anything about it.
 */
typedef struct tbaa_memory_access {
    /**
     * The tag; 0 for one of which nothing is known.
     */
    struct tbaa_tag tag;
    /**
     * What it does, of `tbaa_effect`; 0 is taken for both.
     */
    uint32_t kind;
    /**
     * Bytes, in place of what the tag says: a vector load under the tag of its
     * first lane. 0 for the tag's own, `UINT64_MAX` for unknown.
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
 * One operand of a node. What its kind does not need is 0 or NULL.
 */
typedef struct tbaa_operand {
    /**
     * Of `tbaa_operand_kind`.
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
     * The bytes of a string, for the time of the call.
     */
    struct tbaa_str bytes;
    /**
     * What the callback returned for a node.
     */
    void *node;
} tbaa_operand;

/**
 * Makes a node from its operands and returns it, or NULL if it cannot. A node
 * that is `distinct` is never the same as another; one that is an operand of
 * itself always is so. The callback must not call the emitter that calls it,
 * nor leave by `longjmp` or a C++ exception.
 *
 * LLVM: `MDNode::get`, `MDNode::getDistinct`.
 */
typedef void *(*tbaa_make_node)(void *data,
                                const struct tbaa_operand *operands,
                                size_t count,
                                bool distinct);

/**
 * Where nodes go. `tbaa-llvm.h` has one ready for llvm-c.
 */
typedef struct tbaa_sink {
    /**
     * Makes a node.
     */
    tbaa_make_node make_node;
    /**
     * Passed to it: LLVM's context, say.
     */
    void *data;
} tbaa_sink;

/**
 * What an access, a call or a copy is to get: nodes to attach, NULL for none.
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
 * A `tbaa.struct` node: the accesses that a copy of a struct makes. 0 is none.
 */
typedef struct tbaa_copy {
    /**
     * From 1; ids of types and copies are not dense.
     */
    uint32_t id;
} tbaa_copy;

/**
 * A type node. It is no tag: C will not let one be attached in place of the
 * other. 0 is none.
 */
typedef struct tbaa_type {
    /**
     * From 1; ids of types and copies are not dense.
     */
    uint32_t id;
} tbaa_type;

/**
 * A field of a type.
 */
typedef struct tbaa_field {
    /**
     * The field's type; of an array, that of its elements.
     */
    struct tbaa_type node;
    /**
     * Bytes from the start of the type that has it.
     */
    uint64_t offset;
    /**
     * Bytes that it occupies, all elements of an array; 0 for a flexible one.
     * `tbaa_build_struct_type` does not look at it.
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
     * Bytes from the start of what is copied.
     */
    uint64_t offset;
    /**
     * Bytes copied.
     */
    uint64_t size;
} tbaa_part;

/**
 * What a front end declares of its struct types, by LLVM's names for them, such as
 * `struct.Point`. Zero declares nothing. All modules of a program need the same.
 */
typedef struct tbaa_tagging {
    /**
     * Tag elements of arrays and what plain pointers point to, by their scalar type:
     * nothing may be zeroed or copied by words of another type then.
     */
    bool elements;
    /**
     * Structs that are told apart from others with the same members.
     */
    const struct tbaa_str *nominal;
    /**
     * How many.
     */
    size_t nominal_count;
    /**
     * Structs that share memory, as members of a union do: names with commas between.
     */
    const struct tbaa_str *unions;
    /**
     * How many unions.
     */
    size_t union_count;
    /**
     * Structs through which no access gets a tag.
     */
    const struct tbaa_str *opaque;
    /**
     * How many.
     */
    size_t opaque_count;
} tbaa_tagging;

/**
 * Attaches a tag to an instruction: the function's position among those with a body, and the
 * instruction's in it, both from 0. They come in the module's order.
 */
typedef void (*tbaa_attach_tag)(void *data, uint32_t function, uint32_t instruction, void *tag);

/**
 * A place for a result.
 */
typedef struct tbaa_text *Out_Text;

/**
 * What the tags of a context are to be beside the usual. All zero is the usual.
 */
typedef struct tbaa_tag_options {
    /**
     * Names the lineage, so that code is the same in each run; no other context may
     * have it, in any process whose code may be linked with this one's. Empty for a
     * name that nobody else has.
     */
    struct tbaa_str lineage;
    /**
     * Of `tbaa_tag_form`.
     */
    uint32_t form;
    /**
     * Names of records that C code accesses by clang's own tags, in modules that
     * are linked with the JIT's.
     */
    const struct tbaa_str *shared;
    /**
     * The number of these names.
     */
    size_t shared_count;
} tbaa_tag_options;

/**
 * Where a path leads, with what accesses there get. It never changes, lives as
 * long as its context, and may be used by any thread meanwhile.
 */
typedef struct tbaa_tagged {
    /**
     * Offset, size and alignment; all 0 of a call.
     */
    struct tbaa_place place;
    /**
     * What to attach.
     */
    const struct tbaa_recording *nodes;
} tbaa_tagged;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the `TBAA_ABI_VERSION` of the library that is loaded. A program that
 * opens the library at run time compares it with its header's.
 */
uint32_t tbaa_abi_version(void);

/**
 * Returns the library's version, such as `0.1.0`. It lives as long as the
 * program.
 */
struct tbaa_str tbaa_version(void);

/**
 * Makes a context in which nothing but C's own types is declared. Options of
 * NULL are as all zero. Free it with `tbaa_context_free`.
 */
tbaa_status tbaa_context_new(const struct tbaa_options *options, struct tbaa_context **context);

/**
 * Makes a context of a spec in RON, the text of a file: `docs/specs.md`. Its
 * tags go by their names and paths. `rule` is of `tbaa_rule`; by default the
 * spec's own. What is wrong is reported with its line and column.
 */
tbaa_status tbaa_context_load(struct tbaa_str spec, uint32_t rule, struct tbaa_context **context);

/**
 * Frees a context and its oracle; not its snapshots and readers. NULL is no error.
 */
void tbaa_context_free(struct tbaa_context *context);

/**
 * Returns the oracle that knows all tags of a context, whatever is added: ask
 * it from the thread that adds. It is the context's own, lives as long, and
 * must not be asked while another thread changes the context;
 * `tbaa_context_snapshot` makes one that may be. NULL for NULL.
 */
const struct tbaa_oracle *tbaa_context_oracle(const struct tbaa_context *context);

/**
 * Gives the tag of an access by its path, such as `CallInfo.l.base`,
 * `Table.array[*].tt`, `*double`, `immutable Proto.code`; of a spec also by the
 * tag's name. `docs/declare.md` says what a path can be. The same path has the
 * same tag: keep it.
 */
tbaa_status tbaa_tag_of(struct tbaa_context *context, struct tbaa_str path, struct tbaa_tag *tag);

/**
 * Gives the tags of many paths, as `tbaa_tag_of`, in their order. Where one has
 * none, the error says which, and no tag is written.
 */
tbaa_status tbaa_tags_of(struct tbaa_context *context,
                         const struct tbaa_str *paths,
                         size_t count,
                         struct tbaa_tag *tags);

/**
 * Gives all that there is to know of a path, for the code that accesses what it
 * leads to. A path without a tag is no error here.
 */
tbaa_status tbaa_place_of(struct tbaa_context *context,
                          struct tbaa_str path,
                          struct tbaa_place *place);

/**
 * Declares a struct or union, with the offsets and sizes that the C compiler
 * has. They are checked against the members' types: a member that is out of
 * place, overlaps another, or is of another size, is an error, and so is a
 * second record of the name.
 */
tbaa_status tbaa_declare(struct tbaa_context *context, const struct tbaa_record *record);

/**
 * Declares a scalar of the runtime's own, of so many bytes, under another
 * scalar: `char` in C, which aliases everything.
 */
tbaa_status tbaa_declare_scalar(struct tbaa_context *context,
                                struct tbaa_str name,
                                uint64_t size,
                                uint64_t align,
                                struct tbaa_str parent);

/**
 * Declares memory of a runtime that is apart from all else, but for accesses to C's `char`: a linear
 * memory, a stack, a table, the arrays of numbers. The path of its places is `*` and the name. An
 * access may have any number of its elements, which are scalars or pointers; an empty `element`
 * is for bytes that hold anything, at any alignment. Regions that may be one object, such as imports,
 * are one region: give it the other names by `tbaa_declare_alias`. One that is there already,
 * of the same elements, is no error.
 */
tbaa_status tbaa_declare_region(struct tbaa_context *context,
                                struct tbaa_str name,
                                struct tbaa_str element);

/**
 * Declares an enum, whose values are of an integer type: `unsigned int` in C
 * where none is negative.
 */
tbaa_status tbaa_declare_enum(struct tbaa_context *context,
                              struct tbaa_str name,
                              struct tbaa_str integer);

/**
 * Gives a type one more name: `typedef`.
 */
tbaa_status tbaa_declare_alias(struct tbaa_context *context,
                               struct tbaa_str name,
                               struct tbaa_str type_text);

/**
 * Gives the size of a type on the target, in bytes.
 */
tbaa_status tbaa_size_of(struct tbaa_context *context, struct tbaa_str type_text, uint64_t *size);

/**
 * Says why two accesses may overlap or cannot: the answer alone on the first
 * line, then the clause that decided, with the paths and bytes compared. Free
 * the text with `tbaa_text_free`.
 */
tbaa_status tbaa_explain(const struct tbaa_oracle *oracle,
                         struct tbaa_memory_access a,
                         struct tbaa_memory_access b,
                         struct tbaa_text *text);

/**
 * Writes all tags, copies and types as text in a format of `tbaa_dump_format`.
 * Free the text with `tbaa_text_free`.
 */
tbaa_status tbaa_dump(const struct tbaa_oracle *oracle, uint32_t format, struct tbaa_text *text);

/**
 * Makes an emitter that has emitted nothing. One for each LLVM context, from
 * the thread that uses that; free it with `tbaa_emitter_free` before the
 * context.
 */
tbaa_status tbaa_emitter_new(const struct tbaa_sink *sink, struct tbaa_emitter **emitter);

/**
 * Returns what the emitter's sink is given as `data`: of `tbaa_llvm_sink` the LLVM context.
 */
void *tbaa_emitter_data(const struct tbaa_emitter *emitter);

/**
 * Frees an emitter; the nodes are the sink's. NULL is no error.
 */
void tbaa_emitter_free(struct tbaa_emitter *emitter);

/**
 * Emits the tag of an access, which the oracle's context has: nothing for one without
 * a tag. A tag that LLVM would reject, crash on or get wrong is `TBAA_STATUS_REFUSED`:
 * ask `tbaa_places` for tags that LLVM gets right, or leave the access without. So is
 * an access with a size of its own, at which LLVM does not look, and one that may
 * write where memory is immutable.
 *
 * Nodes are remembered by the oracle's graph: a snapshot's are asked for anew, and an
 * anonymous root of it is another to LLVM.
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
 * Puts a call of `libtbaa_witness` before each tagged access of a module, given
 * as assembly text with opaque pointers (LLVM 15 or later), and writes the
 * module's new text; free it with `tbaa_text_free`. Do it before optimizing.
 *
 * Unless `skipped` is NULL, it becomes a text with a line for each instruction
 * or function that is not checked: its line in `module`, the function, and why.
 * Free it likewise.
 */
tbaa_status tbaa_instrument(struct tbaa_str module,
                            struct tbaa_text *instrumented,
                            struct tbaa_text *skipped);

/**
 * Makes a named root, or finds it. Types under roots of different names may
 * alias.
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
 * Makes a struct type of the old format. Fields stand by ascending offset; those
 * at one offset make a union.
 *
 * LLVM: `MDBuilder::createTBAAStructTypeNode`.
 */
tbaa_status tbaa_build_struct_type(struct tbaa_context *context,
                                   struct tbaa_str name,
                                   const struct tbaa_field *fields,
                                   size_t count,
                                   struct tbaa_type *node);

/**
 * Makes a type of the size-aware format, of `size` bytes: a scalar without
 * fields, otherwise a struct, or a union where fields overlap.
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
 * Makes a tag of the old format: an access to an `access`, a scalar, that lies
 * `offset` bytes into a `base`. For a variable that is part of nothing the two
 * are one type.
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
 * Makes a tag of the size-aware format, of `size` bytes, 0 when unknown. The
 * access may be to a whole struct.
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
 * Gives a tag without the promise that its memory is never modified.
 *
 * LLVM: `MDBuilder::createMutableTBAAAccessTag`.
 */
tbaa_status tbaa_build_mutable_tag(struct tbaa_context *context,
                                   struct tbaa_tag tag,
                                   struct tbaa_tag *without);

/**
 * Makes a `tbaa.struct` node: the accesses that a copy of a struct makes, by
 * ascending offset and without overlap.
 *
 * LLVM: `MDBuilder::createTBAAStructNode`.
 */
tbaa_status tbaa_build_copy(struct tbaa_context *context,
                            const struct tbaa_part *parts,
                            size_t count,
                            struct tbaa_copy *copy);

/**
 * Gives the tag for one access that replaces two, by the rule of the context:
 * 0 where no tag can say it and the access goes without.
 *
 * LLVM: `MDNode::getMostGenericTBAA`.
 */
tbaa_status tbaa_build_merged_tag(struct tbaa_context *context,
                                  struct tbaa_tag a,
                                  struct tbaa_tag b,
                                  struct tbaa_tag *merged);

/**
 * Returns whether accesses with two tags may overlap. True in any doubt: no
 * tag, one that is not known here or ill formed, different roots, NULL.
 *
 * It reads a few words of tables and allocates nothing, but for the few tags
 * that `docs/rules.md` lists under "Limits".
 *
 * LLVM: `TypeBasedAAResult::alias`.
 */
bool tbaa_may_alias(const struct tbaa_oracle *oracle, struct tbaa_tag a, struct tbaa_tag b);

/**
 * Returns whether two accesses may overlap, as `tbaa_may_alias`. A size of the
 * access's own counts under the union rules; LLVM's rule does not look at it.
 */
bool tbaa_access_may_alias(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access a,
                           struct tbaa_memory_access b);

/**
 * Returns which dependences may hold between an access and one that comes after
 * it, as bits of `tbaa_conflict`: 0 if they cannot overlap, or only read.
 * All bits for a NULL oracle.
 */
uint32_t tbaa_may_conflict(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access first,
                           struct tbaa_memory_access second);

/**
 * Returns what a call may do to the memory of an access, as bits of
 * `tbaa_effect`, given all that it does: 0 if it leaves that memory alone.
 * A call of which nothing is known has one effect, with tag 0.
 *
 * What the access itself does is not asked for. Both bits for a NULL oracle, or
 * where the effects are NULL though their count is not 0.
 *
 * LLVM: `AAResults::getModRefInfo`.
 */
uint32_t tbaa_call_effects(const struct tbaa_oracle *oracle,
                           struct tbaa_memory_access access,
                           const struct tbaa_memory_access *effects,
                           size_t count);

/**
 * Returns whether a tag promises that its memory is never modified while it can
 * be read. False in any doubt.
 *
 * LLVM: `TypeBasedAAResult::getModRefInfoMask`.
 */
bool tbaa_is_constant(const struct tbaa_oracle *oracle, struct tbaa_tag tag);

/**
 * Returns the number of tags that the oracle knows: their ids are 1 to that.
 */
uint32_t tbaa_tag_count(const struct tbaa_oracle *oracle);

/**
 * Makes a reader: by it another thread asks about the context's tags, by the
 * context's rule, while this one goes on adding. No function that takes a reader
 * waits for anything. It does not mind what becomes of the context. Free it with
 * `tbaa_reader_free`.
 */
tbaa_status tbaa_reader_new(struct tbaa_context *context, struct tbaa_reader **reader);

/**
 * Lets readers know all tags that the context has by now. Call it before the tags
 * are handed to other threads; once for each function compiled, say. It takes
 * one to three times as long as adding the tags took. Beside the context's tables
 * there are two copies of them, and one more for each reader that lags behind.
 */
tbaa_status tbaa_context_publish(struct tbaa_context *context);

/**
 * Frees a reader. NULL is no error.
 */
void tbaa_reader_free(struct tbaa_reader *reader);

/**
 * Returns `tbaa_may_alias` of what is published. A tag that the reader does not
 * know makes it take what is published by now; one that is not published may
 * alias everything.
 */
bool tbaa_reader_may_alias(struct tbaa_reader *reader, struct tbaa_tag a, struct tbaa_tag b);

/**
 * Returns `tbaa_access_may_alias` of what is published.
 */
bool tbaa_reader_access_may_alias(struct tbaa_reader *reader,
                                  struct tbaa_memory_access a,
                                  struct tbaa_memory_access b);

/**
 * Returns `tbaa_may_conflict` of what is published.
 */
uint32_t tbaa_reader_may_conflict(struct tbaa_reader *reader,
                                  struct tbaa_memory_access first,
                                  struct tbaa_memory_access second);

/**
 * Takes what is published by now, and returns whether that is newer than what the
 * reader had. A reader that asks about old tags alone, or nothing for long, holds
 * a copy of the tables back until then.
 */
bool tbaa_reader_catch_up(struct tbaa_reader *reader);

/**
 * Makes an oracle of the tags that the context has now. It never changes, does
 * not mind what becomes of the context, and may be asked by any number of
 * threads while one thread adds to the context. Ids mean the same in both; a
 * tag that was made later may alias everything here.
 *
 * `rule` is one of `tbaa_rule`, and need not be the context's own. It takes
 * time in proportion to what was added since the last snapshot by that rule
 * that is not held any more; where all are, or the rule is new, to all there
 * is. Release it with `tbaa_oracle_release`.
 */
tbaa_status tbaa_context_snapshot(struct tbaa_context *context,
                                  uint32_t rule,
                                  const struct tbaa_oracle **snapshot);

/**
 * Counts one more holder of a snapshot, which must be released once more, and
 * returns it. Of a context's own oracle, which nobody counts, it returns that.
 */
const struct tbaa_oracle *tbaa_oracle_retain(const struct tbaa_oracle *oracle);

/**
 * Releases a snapshot; the last holder frees it. NULL, and a context's own
 * oracle, are left alone. Any thread may do it.
 */
void tbaa_oracle_release(const struct tbaa_oracle *oracle);

/**
 * Returns what the last call on this thread that failed said: lowercase, one
 * line mostly, with the remedy. Empty where none failed. It lives until the
 * next call on this thread fails.
 */
struct tbaa_str tbaa_last_error(void);

/**
 * Returns a status in words, such as `unknown id`; of a number that is no
 * status, `unknown status`. It lives as long as the program.
 */
struct tbaa_str tbaa_status_name(uint32_t status);

/**
 * Finds tags for the loads and stores of a module, given as assembly text as the front end
 * made it, before any of LLVM's passes, from the places that its getelementptrs name; and
 * hands each to `attach`. `tbaa_llvm_tag_module` does it for a module of llvm-c.
 *
 * The program must keep to this: if two accesses to the same bytes, while one value lives
 * there, reach them through getelementptrs, then the members before them have the same LLVM
 * types in the same order, or one struct is declared inside the other, and both use the same
 * scalar type.
 *
 * Unless `summary` is NULL, it becomes a text with a line for each reason why accesses have
 * no tag: how many, and the reason. Free it with `tbaa_text_free`.
 */
tbaa_status tbaa_tag_module(struct tbaa_emitter *emitter,
                            struct tbaa_str module,
                            const struct tbaa_tagging *tagging,
                            tbaa_attach_tag attach,
                            void *data,
                            Out_Text summary);

/**
 * Says what the tags of a context of policy `rfc` are to be. Call it before the first place is
 * asked for, or not at all.
 */
tbaa_status tbaa_context_tag_options(struct tbaa_context *context,
                                     const struct tbaa_tag_options *options);

/**
 * Gives the places that paths lead to, with what LLVM gets for accesses there:
 * under policy `rfc` lowered tags. A path that names a record alone is the whole
 * record, as a copy accesses it. Ask for all places that are known at the start in
 * one call: their tags tell most accesses apart. More may come at any time; what
 * was given out stays. On an error nothing is written.
 */
tbaa_status tbaa_places(struct tbaa_context *context,
                        const struct tbaa_str *paths,
                        size_t count,
                        struct tbaa_tagged *places);

/**
 * Gives the place that a path leads to for accesses of `size` bytes, which may be
 * more than it has, such as a vector that begins there; `UINT64_MAX` is for a size
 * that varies, and covers no less than any other.
 */
tbaa_status tbaa_place_sized(struct tbaa_context *context,
                             struct tbaa_str path,
                             uint64_t size,
                             struct tbaa_tagged *place);

/**
 * Gives what a call gets that reads and writes the memory of `touched`, by paths,
 * and hands out or takes back objects of the types `memory`, and touches nothing
 * else that others access. With one path and no types that is the path's tag; with
 * several the scopes of all that the call leaves alone, so nothing where there are
 * none.
 *
 * An allocator must name the type of each object that it may free, and of each
 * object that may be made of its bytes: LLVM moves the last stores to an object that
 * is freed behind a call that does not touch it. A callee that reallocates, collects
 * garbage or calls back touches whatever those touch.
 */
tbaa_status tbaa_call_touching(struct tbaa_context *context,
                               const struct tbaa_str *touched,
                               size_t touched_count,
                               const struct tbaa_str *memory,
                               size_t memory_count,
                               struct tbaa_tagged *call);

/**
 * Emits what an instruction at a place, or a call, is to get. `kind` is of
 * `tbaa_instruction_kind`; `size` has the bytes that it accesses, 0 if they are not
 * known, `UINT64_MAX` if they vary. An access that is wider than its place and no run of
 * whole elements, and a store where memory is immutable, is `TBAA_STATUS_REFUSED`, with the
 * remedy. A path that ends at an element (`[*]`) has runs, and so has a type alone; a fill of
 * a size that varies must be one, unless the place ends in a flexible array.
 * `tbaa-llvm.h` calls this with what the instruction says.
 *
 * It takes no lock: the place may be used by many threads, the emitter by one.
 */
tbaa_status tbaa_emit_tagged(struct tbaa_emitter *emitter,
                             const struct tbaa_tagged *tagged,
                             uint32_t kind,
                             uint64_t size,
                             struct tbaa_attachments *nodes);

/**
 * Says whether an access of `size` bytes may have a place's tag whose values have `element` bytes
 * each, of which a run has several: `TBAA_STATUS_REFUSED` with the remedy if not. `pointer` says
 * that the value is a pointer, whose size is that of the module's data layout. `tbaa-llvm.h` calls
 * this.
 */
tbaa_status tbaa_check_element(const struct tbaa_tagged *tagged,
                               uint64_t size,
                               uint64_t element,
                               bool pointer);

/**
 * Frees a string that the library made, and clears it, so that it may be freed
 * again. NULL is no error.
 */
void tbaa_text_free(struct tbaa_text *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TBAA_H */

#if !defined(TBAA_NO_INLINE) && !defined(TBAA_INLINE_H)
#define TBAA_INLINE_H
#include <string.h>

/* A string of one that ends in a NUL. */
static inline tbaa_str tbaa_cstr(const char *text) {
    tbaa_str str;
    str.data = text;
    str.len = text == NULL ? 0 : strlen(text);
    return str;
}

/* An access with a tag's own size; `kind` is of tbaa_effect. */
static inline tbaa_memory_access tbaa_access(tbaa_tag tag, uint32_t kind) {
    tbaa_memory_access access;
    access.tag = tag;
    access.kind = kind;
    access.size = 0;
    return access;
}

/* The options of a context whose tags go to LLVM, unions and all: tbaa_places. */
static inline tbaa_options tbaa_options_for_llvm(void) {
    tbaa_options options;
    memset(&options, 0, sizeof options);
    options.policy = TBAA_POLICY_RFC;
    options.rule = TBAA_RULE_UNION;
    return options;
}

/* No tag: the access may be to anything. */
static inline tbaa_tag tbaa_no_tag(void) {
    tbaa_tag tag;
    tag.id = 0;
    return tag;
}
#endif
