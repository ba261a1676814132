/* Emission by callback, without LLVM: the sink writes each node as a line of text and
 * counts. */
#include "check.h"

typedef union Value {
    double n;
    void *gc;
} Value;

typedef struct TValue {
    Value value;
    short tt;
} TValue;

typedef struct Notes {
    char lines[1 << 16];
    size_t len;
    uintptr_t made;
    uintptr_t fail_at; /* the node that cannot be made */
} Notes;

static void note(Notes *notes, const char *format, uint64_t number, tbaa_str text) {
    int room = (int)(sizeof notes->lines - notes->len);
    int len = format == NULL ? snprintf(notes->lines + notes->len, (size_t)room, "%.*s",
                                        (int)text.len, text.data)
                             : snprintf(notes->lines + notes->len, (size_t)room, format,
                                        (unsigned long long)number);
    CHECK(len >= 0 && len < room);
    notes->len += (size_t)len;
}

static void *make_node(void *data, const tbaa_operand *operands, size_t count, bool distinct) {
    static const tbaa_str none = TBAA_STR("");
    Notes *notes = (Notes *)data;
    if (notes->made + 1 == notes->fail_at)
        return NULL;
    notes->made++;
    note(notes, distinct ? "%llu = distinct:" : "%llu =", notes->made, none);
    for (size_t i = 0; i < count; i++) {
        switch (operands[i].kind) {
        case TBAA_OPERAND_KIND_NULL:
            note(notes, " null", 0, none);
            break;
        case TBAA_OPERAND_KIND_BYTES:
            note(notes, " ", 0, none);
            note(notes, NULL, 0, operands[i].bytes);
            break;
        case TBAA_OPERAND_KIND_INTEGER:
            CHECK(operands[i].bits == 64);
            note(notes, " %llu", operands[i].value, none);
            break;
        case TBAA_OPERAND_KIND_NODE:
            CHECK((uintptr_t)operands[i].node <= notes->made);
            note(notes, " !%llu", (uintptr_t)operands[i].node, none);
            break;
        default:
            CHECK(operands[i].kind == TBAA_OPERAND_KIND_ITSELF && distinct);
            note(notes, " itself", 0, none);
        }
    }
    note(notes, "\n", 0, none);
    return (void *)notes->made; /* node 1, 2, ... */
}

static tbaa_emitter *emitter_to(Notes *notes) {
    memset(notes, 0, sizeof *notes);
    tbaa_sink sink = {make_node, notes};
    tbaa_emitter *emitter;
    CHECK_OK(tbaa_emitter_new(&sink, &emitter));
    return emitter;
}

static tbaa_context *values(uint32_t policy, uint32_t rule) {
    tbaa_options options = {0};
    options.policy = policy;
    options.rule = rule;
    tbaa_context *context;
    CHECK_OK(tbaa_context_new(&options, &context));
    static const tbaa_record_member value[] = {
        TBAA_MEMBER(Value, n, "double"),
        TBAA_MEMBER(Value, gc, "void *"),
    };
    static const tbaa_record_member tvalue[] = {
        TBAA_MEMBER(TValue, value, "Value"),
        TBAA_MEMBER(TValue, tt, "short"),
    };
    tbaa_record record = TBAA_RECORD(Value, value, TBAA_RECORD_FLAG_UNION);
    CHECK_OK(tbaa_declare(context, &record));
    record = (tbaa_record)TBAA_RECORD(TValue, tvalue, 0);
    CHECK_OK(tbaa_declare(context, &record));
    return context;
}

static tbaa_tag tag_of(tbaa_context *context, const char *path) {
    tbaa_tag tag;
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr(path), &tag));
    return tag;
}

static Notes notes;

static void plain(void) {
    tbaa_context *context = values(TBAA_POLICY_CLANG, TBAA_RULE_LLVM);
    tbaa_emitter *emitter = NULL;
    tbaa_sink no_callback = {NULL, NULL};
    CHECK_FAILS(tbaa_emitter_new(&no_callback, &emitter), TBAA_STATUS_INVALID_ARGUMENT,
                "callback");
    CHECK(tbaa_emitter_new(NULL, &emitter) == TBAA_STATUS_INVALID_ARGUMENT && emitter == NULL);
    emitter = emitter_to(&notes);
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    tbaa_attachments nodes, before;
    memset(&before, 0x55, sizeof before);
    nodes = before;

    tbaa_tag tt = tag_of(context, "TValue.tt");
    notes.fail_at = 3;
    CHECK_FAILS(tbaa_emit_access(emitter, oracle, tbaa_access(tt, 0), &nodes), TBAA_STATUS_SINK,
                "callback");
    CHECK(memcmp(&nodes, &before, sizeof nodes) == 0);
    notes.fail_at = 0;
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tt, 0), &nodes));
    CHECK(nodes.tbaa_struct == NULL && nodes.alias_scope == NULL && nodes.noalias == NULL);
    CHECK(strcmp(notes.lines, "1 = Simple C/C++ TBAA\n"
                              "2 = omnipotent char !1 0\n"
                              "3 = short !2 0\n"
                              "4 = TValue !2 0 !3 8\n"
                              "5 = !4 !3 8\n") == 0);
    CHECK((uintptr_t)nodes.tag == 5);
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tt, 0), &nodes));
    CHECK((uintptr_t)nodes.tag == 5 && notes.made == 5);

    /* An access without a tag; a size that LLVM would not see; unknown ids. */
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tbaa_no_tag(), 0), &nodes));
    CHECK(nodes.tag == NULL);
    tbaa_memory_access wide = tbaa_access(tt, 0);
    wide.size = 16;
    CHECK_FAILS(tbaa_emit_access(emitter, oracle, wide, &nodes), TBAA_STATUS_REFUSED, "size");
    wide = tbaa_access((tbaa_tag){1000}, 0);
    CHECK(tbaa_emit_access(emitter, oracle, wide, &nodes) == TBAA_STATUS_UNKNOWN_ID);

    /* A copy has three operands for each part. */
    tbaa_copy copy;
    tbaa_part part = {tt, 8, 2};
    CHECK_OK(tbaa_build_copy(context, &part, 1, &copy));
    CHECK_OK(tbaa_emit_copy(emitter, oracle, copy, &nodes));
    CHECK(nodes.tag == NULL && (uintptr_t)nodes.tbaa_struct == notes.made);
    copy.id = 0;
    CHECK_OK(tbaa_emit_copy(emitter, oracle, copy, &nodes));
    CHECK(nodes.tbaa_struct == NULL);
    copy.id = 1000;
    CHECK(tbaa_emit_copy(emitter, oracle, copy, &nodes) == TBAA_STATUS_UNKNOWN_ID);

    /* An anonymous root refers to itself. */
    tbaa_type own, scalar;
    tbaa_tag tag;
    CHECK_OK(tbaa_build_anonymous_root(context, &own));
    CHECK_OK(tbaa_build_scalar_type(context, tbaa_cstr("x"), own, &scalar));
    CHECK_OK(tbaa_build_struct_tag(context, scalar, scalar, 0, true, &tag));
    CHECK_FAILS(tbaa_emit_access(emitter, oracle, tbaa_access(tag, 0), &nodes),
                TBAA_STATUS_REFUSED, "memory is immutable");
    CHECK_OK(tbaa_emit_access(emitter, oracle, tbaa_access(tag, TBAA_EFFECT_READ), &nodes));
    CHECK(strstr(notes.lines, "= distinct: itself\n") != NULL);

    tbaa_memory_access access = tbaa_access(tt, 0);
    CHECK(tbaa_emit_access(NULL, oracle, access, &nodes) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_emit_access(emitter, NULL, access, &nodes) == TBAA_STATUS_INVALID_ARGUMENT);
    tbaa_emitter_free(emitter);
    tbaa_emitter_free(NULL);
    tbaa_context_free(context);
}

/* A tag into a union is refused. Places give LLVM correct tags and scopes. */
static void unions(void) {
    tbaa_context *context = values(TBAA_POLICY_RFC, TBAA_RULE_UNION);
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    tbaa_tag number = tag_of(context, "TValue.value.n");
    tbaa_emitter *emitter = emitter_to(&notes);
    tbaa_attachments nodes;
    CHECK_FAILS(tbaa_emit_access(emitter, oracle, tbaa_access(number, 0), &nodes),
                TBAA_STATUS_REFUSED, "lower the tags");
    tbaa_tag_options options;
    memset(&options, 0, sizeof options);
    options.lineage = tbaa_cstr("emit.c");
    options.form = 3;
    CHECK_FAILS(tbaa_context_tag_options(context, &options), TBAA_STATUS_INVALID_ARGUMENT,
                "tbaa_tag_form");
    options.form = TBAA_TAG_FORM_SCOPES;
    CHECK_OK(tbaa_context_tag_options(context, &options));
    tbaa_str paths[2] = {TBAA_STR("TValue.value.n"), TBAA_STR("TValue.tt")};
    tbaa_tagged places[2];
    CHECK_OK(tbaa_places(context, paths, 2, places));
    CHECK_OK(tbaa_emit_tagged(emitter, &places[0], TBAA_INSTRUCTION_KIND_LOAD, 8, &nodes));
    CHECK(nodes.tag == NULL && nodes.alias_scope != NULL && nodes.noalias != NULL);
    CHECK(strstr(notes.lines, "emit.c") != NULL);
    tbaa_emitter_free(emitter);
    tbaa_context_free(context);

    /* Tags of clang's policy are attached unchanged: they take no options. */
    context = values(TBAA_POLICY_CLANG, TBAA_RULE_LLVM);
    CHECK_FAILS(tbaa_context_tag_options(context, &options), TBAA_STATUS_INVALID_ARGUMENT,
                "tbaa_options_for_llvm");
    tbaa_context_free(context);
}

int main(void) {
    plain();
    unions();
    puts("ok");
    return 0;
}
