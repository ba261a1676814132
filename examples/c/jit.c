/* A Lua-like JIT asks which of its reloads it can leave out.
 *
 *     cc jit.c $(pkg-config --cflags --libs tbaa) && ./a.out
 *
 * The structs are the runtime's own; offsets and sizes come from the compiler
 * and are checked. docs/embed-c.md goes through this file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tbaa.h>

/* What the JIT's own runtime declares. */
typedef union Value {
    void *gc;
    double n;
    long long i;
} Value;

typedef struct TValue {
    Value value;
    unsigned short tt;
} TValue;

typedef struct Frame {
    TValue *base;
    const unsigned *savedpc;
} Frame;

typedef struct CallInfo {
    TValue *func;
    TValue *top;
    Frame l;
    unsigned short status;
} CallInfo;

typedef struct Table {
    unsigned flags : 3;
    unsigned sized : 1;
    unsigned size;
    TValue *array;
} Table;

static void must(tbaa_status status) {
    if (status != TBAA_STATUS_OK) {
        tbaa_str name = tbaa_status_name(status), why = tbaa_last_error();
        fprintf(stderr, "%.*s: %.*s\n", (int)name.len, name.data, (int)why.len, why.data);
        exit(1);
    }
}

static void declare_runtime(tbaa_context *context) {
    static const tbaa_record_member value[] = {
        TBAA_MEMBER(Value, gc, "void *"),
        TBAA_MEMBER(Value, n, "double"),
        TBAA_MEMBER(Value, i, "long long"),
    };
    static const tbaa_record_member tvalue[] = {
        TBAA_MEMBER(TValue, value, "Value"),
        TBAA_MEMBER(TValue, tt, "unsigned short"),
    };
    static const tbaa_record_member frame[] = {
        TBAA_MEMBER(Frame, base, "TValue *"),
        TBAA_MEMBER(Frame, savedpc, "unsigned *"),
    };
    static const tbaa_record_member call_info[] = {
        TBAA_MEMBER(CallInfo, func, "TValue *"),
        TBAA_MEMBER(CallInfo, top, "TValue *"),
        TBAA_MEMBER(CallInfo, l, "Frame"),
        TBAA_MEMBER(CallInfo, status, "unsigned short"),
    };
    static const tbaa_record_member table[] = {
        TBAA_BITS(flags, "unsigned", 0, 3),
        TBAA_BITS(sized, "unsigned", 3, 1),
        TBAA_MEMBER(Table, size, "unsigned"),
        TBAA_MEMBER(Table, array, "TValue *"),
    };
    static const tbaa_record records[] = {
        TBAA_RECORD(Value, value, TBAA_RECORD_FLAG_UNION),
        TBAA_RECORD(TValue, tvalue, 0),
        TBAA_RECORD(Frame, frame, 0),
        TBAA_RECORD(CallInfo, call_info, 0),
        TBAA_RECORD(Table, table, 0),
    };
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        must(tbaa_declare(context, &records[i]));
}

/* Tags, resolved once when the JIT starts. */
enum { BASE, SAVEDPC, NUMBER, TYPE_TAG, ARRAY, SIZE, ELEMENT, TAGS };

static void resolve(tbaa_context *context, tbaa_tag tags[TAGS]) {
    static const tbaa_str paths[TAGS] = {
        TBAA_STR("CallInfo.l.base"),
        TBAA_STR("CallInfo.l.savedpc"),
        TBAA_STR("TValue.value.n"),
        TBAA_STR("TValue.tt"),
        TBAA_STR("Table.array"),
        TBAA_STR("Table.size"),
        TBAA_STR("Table.array[*].value.gc"),
    };
    must(tbaa_tags_of(context, paths, TAGS, tags));
}

/* Straight-line code: t[i] = n, with the base reloaded before each opcode. */
static const struct {
    const char *text;
    int tag;
    uint32_t effect;
} code[] = {
    {"base = ci->l.base", BASE, TBAA_EFFECT_READ},
    {"ci->l.savedpc = pc", SAVEDPC, TBAA_EFFECT_WRITE},
    {"base = ci->l.base", BASE, TBAA_EFFECT_READ},
    {"base[0].value.n = x", NUMBER, TBAA_EFFECT_WRITE},
    {"base[0].tt = NUMBER", TYPE_TAG, TBAA_EFFECT_WRITE},
    {"base = ci->l.base", BASE, TBAA_EFFECT_READ},
    {"array = t->array", ARRAY, TBAA_EFFECT_READ},
    {"array[1].value.gc = s", ELEMENT, TBAA_EFFECT_WRITE},
    {"size = t->size", SIZE, TBAA_EFFECT_READ},
    {"base = ci->l.base", BASE, TBAA_EFFECT_READ},
};
enum { LENGTH = sizeof code / sizeof code[0] };

/* Whether a load has its value from an earlier one: nothing between may write
 * what it reads. */
static bool is_redundant(const tbaa_oracle *oracle, const tbaa_tag *tags, int at) {
    tbaa_memory_access load = tbaa_access(tags[code[at].tag], code[at].effect);
    if (code[at].effect != TBAA_EFFECT_READ)
        return false;
    for (int before = at - 1; before >= 0; before--) {
        tbaa_memory_access other = tbaa_access(tags[code[before].tag], code[before].effect);
        if (code[before].tag == code[at].tag && code[before].effect == TBAA_EFFECT_READ)
            return true;
        if (tbaa_may_conflict(oracle, other, load) != 0)
            return false;
    }
    return false;
}

int main(void) {
    if (tbaa_abi_version() != TBAA_ABI_VERSION) {
        fprintf(stderr, "tbaa.h and libtbaa differ\n");
        return 1;
    }

    tbaa_options options = {0};
    options.policy = TBAA_POLICY_RFC;
    options.rule = TBAA_RULE_UNION;
    tbaa_context *context;
    must(tbaa_context_new(&options, &context));
    declare_runtime(context);
    tbaa_tag tags[TAGS];
    resolve(context, tags);

    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    for (int at = 0; at < LENGTH; at++)
        printf("%s %s\n", is_redundant(oracle, tags, at) ? "known" : "     ", code[at].text);

    /* Why is one of them not known? */
    tbaa_text why;
    must(tbaa_explain(oracle, tbaa_access(tags[ELEMENT], TBAA_EFFECT_WRITE),
                      tbaa_access(tags[NUMBER], TBAA_EFFECT_READ), &why));
    printf("\nstore to array[1].value.gc, load of base[0].value.n:\n%s\n", why.data);
    tbaa_text_free(&why);

    /* What code generation needs beside the tag. */
    tbaa_place size;
    must(tbaa_place_of(context, tbaa_cstr("Table.size"), &size));
    printf("\nt->size: %u bytes at %u, aligned to %u\n", (unsigned)size.size,
           (unsigned)size.offset, (unsigned)size.align);

    tbaa_context_free(context);
    return 0;
}
