/* Emission by callback, lowering and scopes, without LLVM: the sink writes each
 * node as a line of text and counts. */
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
    tbaa_plan plan = {tbaa_context_oracle(context), NULL, NULL, false};
    tbaa_attachments nodes, before;
    memset(&before, 0x55, sizeof before);
    nodes = before;

    tbaa_tag tt = tag_of(context, "TValue.tt");
    notes.fail_at = 3;
    CHECK_FAILS(tbaa_emit_access(emitter, &plan, tbaa_access(tt, 0), &nodes), TBAA_STATUS_SINK,
                "callback");
    CHECK(memcmp(&nodes, &before, sizeof nodes) == 0);
    notes.fail_at = 0;
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tt, 0), &nodes));
    CHECK(nodes.tbaa_struct == NULL && nodes.alias_scope == NULL && nodes.noalias == NULL);
    CHECK(strcmp(notes.lines, "1 = Simple C/C++ TBAA\n"
                              "2 = omnipotent char !1 0\n"
                              "3 = short !2 0\n"
                              "4 = TValue !2 0 !3 8\n"
                              "5 = !4 !3 8\n") == 0);
    CHECK((uintptr_t)nodes.tag == 5);
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tt, 0), &nodes));
    CHECK((uintptr_t)nodes.tag == 5 && notes.made == 5);

    /* No tag; a size that LLVM would not see; ids that are none. */
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tbaa_no_tag(), 0), &nodes));
    CHECK(nodes.tag == NULL);
    tbaa_memory_access wide = tbaa_access(tt, 0);
    wide.size = 16;
    CHECK_FAILS(tbaa_emit_access(emitter, &plan, wide, &nodes), TBAA_STATUS_REFUSED, "size");
    wide = tbaa_access((tbaa_tag){1000}, 0);
    CHECK(tbaa_emit_access(emitter, &plan, wide, &nodes) == TBAA_STATUS_UNKNOWN_ID);

    /* A copy: three operands a part. */
    tbaa_copy copy;
    CHECK_OK(tbaa_copy_of(context, tbaa_cstr("TValue"), &copy));
    CHECK_OK(tbaa_emit_copy(emitter, &plan, copy, &nodes));
    CHECK(nodes.tag == NULL && (uintptr_t)nodes.tbaa_struct == notes.made);
    copy.id = 0;
    CHECK_OK(tbaa_emit_copy(emitter, &plan, copy, &nodes));
    CHECK(nodes.tbaa_struct == NULL);
    copy.id = 1000;
    CHECK(tbaa_emit_copy(emitter, &plan, copy, &nodes) == TBAA_STATUS_UNKNOWN_ID);

    /* A call with one effect has its tag. */
    tbaa_memory_access effects[2] = {tbaa_access(tt, 0), tbaa_access(tbaa_no_tag(), 0)};
    CHECK_OK(tbaa_emit_call(emitter, &plan, effects, 1, &nodes));
    CHECK((uintptr_t)nodes.tag == 5);
    CHECK_OK(tbaa_emit_call(emitter, &plan, effects, 2, &nodes));
    CHECK(nodes.tag == NULL);
    CHECK(tbaa_emit_call(emitter, &plan, NULL, 2, &nodes) == TBAA_STATUS_INVALID_ARGUMENT);

    /* An anonymous root refers to itself. */
    tbaa_type own, scalar;
    tbaa_tag tag;
    CHECK_OK(tbaa_build_anonymous_root(context, &own));
    CHECK_OK(tbaa_build_scalar_type(context, tbaa_cstr("x"), own, &scalar));
    CHECK_OK(tbaa_build_struct_tag(context, scalar, scalar, 0, true, &tag));
    CHECK_FAILS(tbaa_emit_access(emitter, &plan, tbaa_access(tag, 0), &nodes),
                TBAA_STATUS_REFUSED, "memory is immutable");
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tag, TBAA_EFFECT_READ), &nodes));
    CHECK(strstr(notes.lines, "= distinct: itself\n") != NULL);

    CHECK(tbaa_emit_access(NULL, &plan, effects[0], &nodes) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_emit_access(emitter, NULL, effects[0], &nodes) == TBAA_STATUS_INVALID_ARGUMENT);
    plan.oracle = NULL;
    CHECK(tbaa_emit_access(emitter, &plan, effects[0], &nodes) == TBAA_STATUS_INVALID_ARGUMENT);
    tbaa_emitter_free(emitter);
    tbaa_emitter_free(NULL);
    tbaa_context_free(context);
}

/* Tags into a union: refused as they are, lowered, and as scopes. */
static void unions(void) {
    tbaa_context *context = values(TBAA_POLICY_RFC, TBAA_RULE_UNION);
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    tbaa_tag tags[] = {tag_of(context, "TValue.value.n"), tag_of(context, "TValue.value.gc"),
                       tag_of(context, "TValue.tt"), tag_of(context, "*int")};
    enum { N = sizeof tags / sizeof tags[0] };
    tbaa_emitter *emitter = emitter_to(&notes);
    tbaa_plan plan = {oracle, NULL, NULL, false};
    tbaa_attachments nodes;
    CHECK_FAILS(tbaa_emit_access(emitter, &plan, tbaa_access(tags[0], 0), &nodes),
                TBAA_STATUS_REFUSED, "lower the tags");
    void *node = NULL;
    CHECK_OK(tbaa_emit_tag_as_is(emitter, oracle, tags[0], &node));
    CHECK(node != NULL);
    CHECK(tbaa_emit_tag_as_is(emitter, oracle, tbaa_no_tag(), &node) == TBAA_STATUS_UNKNOWN_ID);

    tbaa_lowered *lowered;
    tbaa_lower_options options = {0};
    options.lineage = tbaa_cstr("emit.c");
    CHECK_OK(tbaa_lowered_new(&options, &lowered));
    tbaa_source sources[N];
    for (int i = 0; i < N; i++) {
        sources[i].tag = tags[i];
        sources[i].weight = 1;
        sources[i].size = 0;
    }
    plan.lowered = lowered;
    CHECK_FAILS(tbaa_emit_access(emitter, &plan, tbaa_access(tags[0], 0), &nodes),
                TBAA_STATUS_UNKNOWN_ID, "tbaa_lower");
    CHECK_OK(tbaa_lower(lowered, oracle, sources, N - 1));
    CHECK_OK(tbaa_lower(lowered, oracle, sources, N));
    uint64_t apart = 99, lost = 99;
    CHECK_OK(tbaa_lowered_loss(lowered, &apart, &lost));
    CHECK(apart == 5 && lost == 0);
    CHECK(tbaa_lowered_loss(lowered, &apart, NULL) == TBAA_STATUS_INVALID_ARGUMENT);
    tbaa_attachments lowered_nodes[N];
    for (int i = 0; i < N; i++)
        CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[i], 0), &lowered_nodes[i]));
    CHECK(lowered_nodes[0].tag != NULL && lowered_nodes[2].tag != NULL);
    CHECK(lowered_nodes[0].tag != lowered_nodes[2].tag);
    tbaa_text text;
    CHECK_OK(tbaa_lowered_dump(lowered, TBAA_DUMP_FORMAT_LLVM, &text));
    CHECK(strstr(text.data, "emit.c") != NULL);
    tbaa_text_free(&text);
    CHECK(tbaa_lowered_dump(NULL, TBAA_DUMP_FORMAT_LLVM, &text) == TBAA_STATUS_INVALID_ARGUMENT);
    sources[0].tag.id = 1000;
    CHECK(tbaa_lower(lowered, oracle, sources, N) == TBAA_STATUS_UNKNOWN_ID);
    CHECK(tbaa_lower(NULL, oracle, sources, N) == TBAA_STATUS_INVALID_ARGUMENT);

    tbaa_scopes *scopes = NULL;
    CHECK(tbaa_scopes_new(oracle, tbaa_cstr("emit.c"), NULL, N, &scopes) ==
          TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(scopes == NULL);
    CHECK_OK(tbaa_scopes_new(oracle, tbaa_cstr("emit.c"), tags, N, &scopes));
    plan.scopes = scopes;
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[2], 0), &nodes));
    CHECK(nodes.tag == lowered_nodes[2].tag && nodes.alias_scope != NULL);
    CHECK(nodes.noalias != NULL);
    plan.scopes_alone = true;
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[2], 0), &nodes));
    CHECK(nodes.tag == NULL && nodes.alias_scope != NULL);
    tbaa_memory_access effect = tbaa_access(tags[2], 0);
    CHECK_OK(tbaa_emit_call(emitter, &plan, &effect, 1, &nodes));
    CHECK(nodes.noalias != NULL && nodes.alias_scope == NULL);
    effect.tag = tbaa_no_tag();
    CHECK_OK(tbaa_emit_call(emitter, &plan, &effect, 1, &nodes));
    CHECK(nodes.noalias == NULL && nodes.tag == NULL);
    /* Scopes say nothing of an access wider than its tag. */
    effect = tbaa_access(tags[2], 0);
    effect.size = 64;
    CHECK_OK(tbaa_emit_access(emitter, &plan, effect, &nodes));
    CHECK(nodes.noalias == NULL && nodes.alias_scope == NULL);
    CHECK_OK(tbaa_emit_call(emitter, &plan, &effect, 1, &nodes));
    CHECK(nodes.noalias == NULL);

    tbaa_scopes_free(scopes);
    tbaa_scopes_free(NULL);
    tbaa_lowered_free(lowered);
    tbaa_lowered_free(NULL);
    tbaa_emitter_free(emitter);
    tbaa_context_free(context);

}

/* Four types in a ring, each in a union with the next: more than a tree can say.
 * The scopes of a lowering say the rest. */
static void scopes_of_a_lowering(void) {
    tbaa_context *context = values(TBAA_POLICY_RFC, TBAA_RULE_UNION);
    static const char *const types[] = {"int", "double", "float", "void *"};
    static char names[4][8];
    tbaa_tag tags[8];
    tbaa_source sources[8];
    for (int i = 0; i < 4; i++) {
        tbaa_record_member members[2];
        memset(members, 0, sizeof members);
        members[0].name = tbaa_cstr("a");
        members[0].type_text = tbaa_cstr(types[i]);
        members[1].name = tbaa_cstr("b");
        members[1].type_text = tbaa_cstr(types[(i + 1) % 4]);
        snprintf(names[i], sizeof names[i], "U%d", i);
        tbaa_record record = {tbaa_cstr(names[i]), members, 2, 0, 0,
                              TBAA_RECORD_FLAG_UNION | TBAA_RECORD_FLAG_COMPUTED};
        CHECK_OK(tbaa_declare(context, &record));
        char path[16];
        snprintf(path, sizeof path, "U%d.a", i);
        tags[2 * i] = tag_of(context, path);
        snprintf(path, sizeof path, "*%s", types[i]);
        tags[2 * i + 1] = tag_of(context, path);
    }
    memset(sources, 0, sizeof sources);
    for (int i = 0; i < 8; i++)
        sources[i].tag = tags[i];
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    uint64_t apart, lost;
    tbaa_lowered *lowered = NULL;
    tbaa_lower_options options = {0};
    options.scopes = 3;
    CHECK(tbaa_lowered_new(&options, &lowered) == TBAA_STATUS_INVALID_ARGUMENT);
    options.scopes = TBAA_SCOPE_FORM_LOST;
    options.size_aware = true;
    options.depth = 8;
    CHECK_OK(tbaa_lowered_new(&options, &lowered));
    CHECK_OK(tbaa_lower(lowered, oracle, sources, 8));
    CHECK_FAILS(tbaa_lower(lowered, oracle, (tbaa_source[]){{tag_of(context, "*short"), 1, 0}}, 1),
                TBAA_STATUS_BUILD, "lineage");
    CHECK_OK(tbaa_lowered_loss(lowered, &apart, &lost));
    CHECK(lost > 0 && lost < apart);

    tbaa_emitter *emitter = emitter_to(&notes);
    tbaa_plan plan = {oracle, lowered, NULL, false};
    tbaa_attachments nodes;
    int with_scopes = 0;
    for (int i = 0; i < 8; i++) {
        CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[i], 0), &nodes));
        with_scopes += nodes.alias_scope != NULL && nodes.noalias != NULL;
    }
    CHECK(with_scopes > 0);
    /* A call that touches nothing leaves all alone; one that may touch anything
     * leaves nothing alone. */
    tbaa_memory_access effect = tbaa_access(tbaa_no_tag(), 0);
    CHECK_OK(tbaa_emit_call(emitter, &plan, NULL, 0, &nodes));
    CHECK(nodes.noalias != NULL && nodes.alias_scope == NULL && nodes.tag == NULL);
    CHECK_OK(tbaa_emit_call(emitter, &plan, &effect, 1, &nodes));
    CHECK(nodes.noalias == NULL && nodes.tag == NULL);
    /* A snapshot's tags are the same. */
    tbaa_attachments again;
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[0], 0), &nodes));
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_DEFAULT, &plan.oracle));
    CHECK_OK(tbaa_emit_access(emitter, &plan, tbaa_access(tags[0], 0), &again));
    CHECK(nodes.tag == again.tag && nodes.noalias == again.noalias);
    uintptr_t made = notes.made;
    CHECK_OK(tbaa_emit_call(emitter, &plan, NULL, 0, &again));
    CHECK(notes.made == made && again.noalias != NULL);
    /* A call with an effect that was not lowered has scopes alone. */
    effect = tbaa_access(tag_of(context, "*short"), 0);
    CHECK_OK(tbaa_emit_call(emitter, &plan, &effect, 1, &again));
    CHECK(again.tag == NULL && again.noalias != NULL);
    tbaa_oracle_release(plan.oracle);
    tbaa_emitter_free(emitter);
    tbaa_lowered_free(lowered);
    CHECK_OK(tbaa_lowered_new(NULL, &lowered));
    tbaa_lowered_free(lowered);
    tbaa_context_free(context);
}

int main(void) {
    plain();
    scopes_of_a_lowering();
    unions();
    puts("ok");
    return 0;
}
