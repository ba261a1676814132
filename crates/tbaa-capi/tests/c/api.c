/* Calls every function of tbaa.h, in the right order and in others: checks results, errors,
 * and that out-parameters keep their values after an error. */
#include "check.h"

typedef struct Node {
    struct Node *next;
    int key;
    union {
        double n;
        void *p;
    } v;
} Node;

typedef union Word {
    int i;
    float f;
} Word;

static void versions_and_words(void) {
    CHECK(tbaa_abi_version() == TBAA_ABI_VERSION);
    CHECK(said(tbaa_version(), "."));
    CHECK(tbaa_last_error().len == 0);
    CHECK(said(tbaa_status_name(TBAA_STATUS_OK), "ok"));
    CHECK(said(tbaa_status_name(TBAA_STATUS_PANICKED), "panicked"));
    CHECK(said(tbaa_status_name(4711), "unknown status"));
    CHECK(tbaa_cstr(NULL).len == 0 && tbaa_no_tag().id == 0);
}

static void contexts(void) {
    tbaa_context *context = NULL;
    tbaa_options options = {0};
    options.policy = 99;
    CHECK_FAILS(tbaa_context_new(&options, &context), TBAA_STATUS_INVALID_ARGUMENT,
                "99 is no tbaa_policy");
    options.policy = TBAA_POLICY_CLANG;
    options.target = tbaa_cstr("pdp-11");
    CHECK_FAILS(tbaa_context_new(&options, &context), TBAA_STATUS_INVALID_ARGUMENT, "pdp-11");
    options.target = tbaa_cstr("i686");
    options.rule = 17;
    CHECK_FAILS(tbaa_context_new(&options, &context), TBAA_STATUS_INVALID_ARGUMENT, "tbaa_rule");
    options.rule = TBAA_RULE_DEFAULT;
    options.root = tbaa_cstr("\xff");
    CHECK_FAILS(tbaa_context_new(&options, &context), TBAA_STATUS_INVALID_ARGUMENT, "UTF-8");
    options.root.data = NULL;
    CHECK_FAILS(tbaa_context_new(&options, &context), TBAA_STATUS_INVALID_ARGUMENT, "NULL");
    CHECK(context == NULL);
    CHECK_FAILS(tbaa_context_new(NULL, NULL), TBAA_STATUS_INVALID_ARGUMENT, "result is NULL");
    options.root = tbaa_cstr("my runtime");
    CHECK_OK(tbaa_context_new(&options, &context));
    uint64_t size = 0;
    CHECK_OK(tbaa_size_of(context, tbaa_cstr("void *"), &size));
    CHECK(size == 4);
    tbaa_context_free(context);
    tbaa_context_free(NULL);
    CHECK(tbaa_context_oracle(NULL) == NULL);
}

static void specs(void) {
    tbaa_context *context = NULL;
    const char *text = "Spec(name: \"pair\", rules: union, types: [\n"
                       " Root(name: \"R\"), Scalar(name: \"int\", parent: \"R\"),\n"
                       " Struct(name: \"Pair\", fields: [(\"a\", \"int\", 0), (\"b\", \"int\", 4)])],\n"
                       " tags: [Tag(name: \"p.b\", base: \"Pair\", access: \"int\", offset: 4),\n"
                       " Tag(name: \"p.a\", base: \"Pair\", access: \"int\", offset: 0)],\n"
                       " expect: [])";
    CHECK_OK(tbaa_context_load(tbaa_cstr(text), TBAA_RULE_DEFAULT, &context));
    tbaa_tag named, by_path, other = {0};
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("p.b"), &named));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Pair.b"), &by_path));
    CHECK(named.id == by_path.id);
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Pair.a"), &other));
    CHECK(!tbaa_may_alias(tbaa_context_oracle(context), named, other));
    CHECK_FAILS(tbaa_tag_of(context, tbaa_cstr("Pair.c"), &other), TBAA_STATUS_PATH, "Pair");
    /* The spec declares no types. */
    uint64_t size = 7;
    CHECK_FAILS(tbaa_size_of(context, tbaa_cstr("int"), &size), TBAA_STATUS_DECLARATION,
                "declare");
    CHECK(size == 7);
    tbaa_context_free(context);

    context = NULL;
    CHECK_FAILS(tbaa_context_load(tbaa_cstr("Spec("), 0, &context), TBAA_STATUS_SPEC, "1:");
    CHECK(context == NULL);
}

static tbaa_record word_record(void) {
    static const tbaa_record_member members[] = {
        TBAA_MEMBER(Word, i, "int"),
        TBAA_MEMBER(Word, f, "float"),
    };
    tbaa_record record = TBAA_RECORD(Word, members, TBAA_RECORD_FLAG_UNION);
    return record;
}

static tbaa_context *declarations(void) {
    tbaa_context *context;
    tbaa_options options = {0};
    options.policy = TBAA_POLICY_RFC;
    options.rule = TBAA_RULE_UNION;
    CHECK_OK(tbaa_context_new(&options, &context));

    /* An anonymous union needs a name of its own. */
    static tbaa_record_member v[] = {
        {TBAA_STR("n"), TBAA_STR("double"), 0, sizeof(double), 0, 0, 0},
        {TBAA_STR("p"), TBAA_STR("void *"), 0, sizeof(void *), 0, 0, 0},
    };
    tbaa_record record = {TBAA_STR("Node.v"), v, 2, sizeof(double), 0, TBAA_RECORD_FLAG_UNION};
    CHECK_OK(tbaa_declare(context, &record));
    CHECK_OK(tbaa_declare(context, &record));
    record.count = 1;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_DECLARATION, "has 2 members and not 1");
    record.count = 2;

    static tbaa_record_member members[] = {
        TBAA_MEMBER(Node, next, "Node *"),
        TBAA_MEMBER(Node, key, "int"),
        TBAA_ANONYMOUS(Node, v, "Node.v"),
    };
    record = (tbaa_record)TBAA_RECORD(Node, members, 0);
    members[1].type_text = tbaa_cstr("short");
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_DECLARATION, "sizeof is 4");
    members[1].type_text = tbaa_cstr("int");
    members[1].offset = 6;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_DECLARATION, "offset 6");
    members[1].offset = offsetof(Node, key);
    members[0].type_text = tbaa_cstr("Nod *");
    CHECK(tbaa_declare(context, &record) == TBAA_STATUS_DECLARATION);
    members[0].type_text = tbaa_cstr("Node *");
    members[0].flags = 1 << 9;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_INVALID_ARGUMENT, "0x200");
    members[0].flags = TBAA_MEMBER_FLAG_IMMUTABLE;
    members[0].bits = 3;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_INVALID_ARGUMENT, "bits");
    members[0].bits = 0;
    record.size--;
    CHECK(tbaa_declare(context, &record) == TBAA_STATUS_DECLARATION);
    record.size++;
    record.members = NULL;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_INVALID_ARGUMENT, "NULL");
    record.members = members;
    record.count = (size_t)-1;
    CHECK_FAILS(tbaa_declare(context, &record), TBAA_STATUS_INVALID_ARGUMENT, "memory");
    record.count = 3;
    CHECK_OK(tbaa_declare(context, &record));
    CHECK(tbaa_declare(context, NULL) == TBAA_STATUS_INVALID_ARGUMENT);
    record = word_record();
    CHECK_OK(tbaa_declare(context, &record));

    /* Computed; packed; bit-fields; a flexible array; a base class. */
    static tbaa_record_member header[] = {
        TBAA_BITS(kind, "unsigned", 0, 5),
        TBAA_BITS(mark, "unsigned", 5, 11),
        {TBAA_STR("odd"), TBAA_STR("int"), 2, 4, 0, 0, TBAA_MEMBER_FLAG_PACKED},
        {TBAA_STR("code"), TBAA_STR("char []"), 6, 0, 0, 0, 0},
    };
    record = (tbaa_record){TBAA_STR("Header"), header, 4, 6, 1, TBAA_RECORD_FLAG_PACKED};
    CHECK_OK(tbaa_declare(context, &record));
    static tbaa_record_member derived[] = {
        {TBAA_STR(""), TBAA_STR("Word"), 0, 0, 0, 0, TBAA_MEMBER_FLAG_BASE},
        {TBAA_STR("more"), TBAA_STR("long"), 0, 0, 16, 0, 0},
    };
    record = (tbaa_record){TBAA_STR("Derived"), derived, 2, 0, 0,
                           TBAA_RECORD_FLAG_COMPUTED | TBAA_RECORD_FLAG_MAY_ALIAS};
    CHECK_OK(tbaa_declare(context, &record));
    record.flags = 1 << 8;
    CHECK(tbaa_declare(context, &record) == TBAA_STATUS_INVALID_ARGUMENT);

    CHECK_OK(tbaa_declare_scalar(context, tbaa_cstr("handle"), 4, 4, tbaa_cstr("char")));
    CHECK_FAILS(tbaa_declare_scalar(context, tbaa_cstr("odd"), 4, 3, tbaa_cstr("char")),
                TBAA_STATUS_DECLARATION, "power of two");
    CHECK_OK(tbaa_declare_enum(context, tbaa_cstr("Opcode"), tbaa_cstr("unsigned int")));
    CHECK(tbaa_declare_enum(context, tbaa_cstr("E"), tbaa_cstr("Node")) ==
          TBAA_STATUS_DECLARATION);
    CHECK_OK(tbaa_declare_alias(context, tbaa_cstr("link"), tbaa_cstr("Node *")));
    CHECK(tbaa_declare_alias(context, tbaa_cstr("link"), tbaa_cstr("int")) ==
          TBAA_STATUS_DECLARATION);
    uint64_t size;
    CHECK_OK(tbaa_size_of(context, tbaa_cstr("link"), &size));
    CHECK(size == sizeof(Node *));
    CHECK_OK(tbaa_size_of(context, tbaa_cstr("Derived"), &size));
    CHECK(size == 32);
    CHECK(tbaa_size_of(context, tbaa_cstr("void"), &size) == TBAA_STATUS_DECLARATION);
    tbaa_place place;
    CHECK_OK(tbaa_place_of(context, tbaa_cstr("Node.p"), &place));
    CHECK(place.offset == offsetof(Node, v));
    CHECK_FAILS(tbaa_place_of(context, tbaa_cstr("Node.kye"), &place), TBAA_STATUS_PATH, "key");
    return context;
}

static void paths(tbaa_context *context) {
    tbaa_tag next, key, tags[3] = {{41}, {42}, {43}};
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.next"), &next));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.next->key"), &key));
    CHECK(tbaa_tag_of(NULL, tbaa_cstr("Node.next"), &next) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_tag_of(context, tbaa_cstr("Node.next"), NULL) == TBAA_STATUS_INVALID_ARGUMENT);
    tbaa_str some[3] = {TBAA_STR("Node.next"), TBAA_STR("Node.kye"), TBAA_STR("*double")};
    CHECK_FAILS(tbaa_tags_of(context, some, 3, tags), TBAA_STATUS_PATH, "path 1");
    CHECK(tags[0].id == 41 && tags[1].id == 42 && tags[2].id == 43);
    some[1] = tbaa_cstr("Node.key");
    CHECK_OK(tbaa_tags_of(context, some, 3, tags));
    CHECK(tags[0].id == next.id && tags[1].id == key.id && tags[2].id != 0);
    CHECK_OK(tbaa_tags_of(context, NULL, 0, NULL));
    CHECK(tbaa_tags_of(context, some, 3, NULL) == TBAA_STATUS_INVALID_ARGUMENT);

    tbaa_place place;
    CHECK_OK(tbaa_place_of(context, tbaa_cstr("volatile Header.mark"), &place));
    CHECK(place.offset == 0 && place.first_bit == 5 && place.bit_width == 11);
    CHECK(place.is_volatile && !place.immutable && place.tag.id != 0);
    CHECK_OK(tbaa_place_of(context, tbaa_cstr("Node.next"), &place));
    CHECK(place.immutable && place.size == 8 && place.align == 8 && place.bit_width == 0);
    CHECK(tbaa_place_of(context, tbaa_cstr("Node."), &place) == TBAA_STATUS_PATH);

    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    CHECK(tbaa_is_constant(oracle, next) && !tbaa_is_constant(oracle, key));
    CHECK(!tbaa_is_constant(oracle, tbaa_no_tag()) && !tbaa_is_constant(NULL, next));
}

static void untagged(void) {
    tbaa_context *context;
    CHECK_OK(tbaa_context_new(NULL, &context));
    static tbaa_record_member members[] = {TBAA_BITS(a, "int", 0, 3)};
    tbaa_record record = {TBAA_STR("B"), members, 1, sizeof(int), 0, 0};
    CHECK_OK(tbaa_declare(context, &record));
    tbaa_tag tag = {77};
    CHECK_FAILS(tbaa_tag_of(context, tbaa_cstr("B.a"), &tag), TBAA_STATUS_UNTAGGED, "B.a");
    CHECK(tag.id == 77);
    tbaa_place place;
    CHECK_OK(tbaa_place_of(context, tbaa_cstr("B.a"), &place));
    CHECK(place.tag.id == 0 && place.bit_width == 3);
    tbaa_context_free(context);
}

static void queries(tbaa_context *context) {
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    tbaa_tag next, key, i, f;
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.next"), &next));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.key"), &key));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Word.i"), &i));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Word.f"), &f));
    tbaa_tag beyond = {tbaa_tag_count(oracle) + 1};
    CHECK(tbaa_tag_count(oracle) >= 4 && tbaa_tag_count(NULL) == 0);
    CHECK(tbaa_may_alias(oracle, i, f) && !tbaa_may_alias(oracle, next, key));
    CHECK(tbaa_may_alias(oracle, next, tbaa_no_tag()) && tbaa_may_alias(NULL, next, key));
    CHECK(tbaa_may_alias(oracle, beyond, key));

    /* Twelve bytes from `next` on reach into `key`. */
    tbaa_memory_access wide = tbaa_access(next, TBAA_EFFECT_WRITE);
    tbaa_memory_access read = tbaa_access(key, TBAA_EFFECT_READ);
    CHECK(!tbaa_access_may_alias(oracle, wide, read));
    CHECK(tbaa_may_conflict(oracle, wide, read) == 0);
    wide.size = 12;
    CHECK(tbaa_access_may_alias(oracle, wide, read));
    CHECK(tbaa_may_conflict(oracle, wide, read) == TBAA_CONFLICT_READ_AFTER_WRITE);
    CHECK(tbaa_may_conflict(oracle, read, wide) == TBAA_CONFLICT_WRITE_AFTER_READ);
    CHECK(tbaa_may_conflict(oracle, wide, wide) == TBAA_CONFLICT_WRITE_AFTER_WRITE);
    CHECK(tbaa_may_conflict(oracle, read, read) == 0);
    CHECK(tbaa_may_conflict(NULL, read, read) == 7 && tbaa_access_may_alias(NULL, read, read));

    /* A call that reads Words and writes keys. */
    tbaa_memory_access effects[2] = {tbaa_access(i, TBAA_EFFECT_READ),
                                     tbaa_access(key, TBAA_EFFECT_WRITE)};
    CHECK(tbaa_call_effects(oracle, read, effects, 2) == TBAA_EFFECT_WRITE);
    CHECK(tbaa_call_effects(oracle, tbaa_access(f, TBAA_EFFECT_WRITE), effects, 2) ==
          TBAA_EFFECT_READ);
    CHECK(tbaa_call_effects(oracle, tbaa_access(next, 0), effects, 2) == 0);
    CHECK(tbaa_call_effects(oracle, tbaa_access(tbaa_no_tag(), 0), effects, 2) ==
          TBAA_EFFECT_BOTH);
    effects[0] = tbaa_access(tbaa_no_tag(), 0);
    CHECK(tbaa_call_effects(oracle, read, effects, 1) == TBAA_EFFECT_BOTH);
    CHECK(tbaa_call_effects(oracle, read, NULL, 0) == 0);
    CHECK(tbaa_call_effects(oracle, read, NULL, 1) == TBAA_EFFECT_BOTH);
    CHECK(tbaa_call_effects(NULL, read, effects, 1) == TBAA_EFFECT_BOTH);

    tbaa_text text;
    CHECK_OK(tbaa_explain(oracle, tbaa_access(i, 0), tbaa_access(f, 0), &text));
    CHECK(strncmp(text.data, "MayAlias\nrule union", 19) == 0 && strlen(text.data) == text.len);
    tbaa_text_free(&text);
    tbaa_text_free(&text);
    tbaa_text_free(NULL);
    CHECK(tbaa_explain(NULL, read, read, &text) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_explain(oracle, read, read, NULL) == TBAA_STATUS_INVALID_ARGUMENT);

    CHECK_OK(tbaa_dump(oracle, TBAA_DUMP_FORMAT_LLVM, &text));
    CHECK(said(tbaa_cstr(text.data), "!tbaa.tags = !{"));
    tbaa_text_free(&text);
    CHECK_OK(tbaa_dump(oracle, TBAA_DUMP_FORMAT_RON, &text));
    tbaa_context *again;
    CHECK_OK(tbaa_context_load(tbaa_cstr(text.data), TBAA_RULE_UNION, &again));
    CHECK(tbaa_tag_count(tbaa_context_oracle(again)) == tbaa_tag_count(oracle));
    tbaa_context_free(again);
    tbaa_text_free(&text);
    CHECK_FAILS(tbaa_dump(oracle, TBAA_DUMP_FORMAT_MLIR, &text), TBAA_STATUS_UNWRITABLE, "MLIR");
    CHECK(tbaa_dump(oracle, 9, &text) == TBAA_STATUS_INVALID_ARGUMENT);
}

static void nodes(void) {
    tbaa_context *context;
    CHECK_OK(tbaa_context_new(NULL, &context));
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    tbaa_type root, own, any, integer, real, pair, none = {0}, out = {99};
    CHECK_OK(tbaa_build_root(context, tbaa_cstr("R"), &root));
    CHECK_OK(tbaa_build_anonymous_root(context, &own));
    CHECK(root.id != own.id);
    CHECK_OK(tbaa_build_scalar_type(context, tbaa_cstr("any"), root, &any));
    CHECK_OK(tbaa_build_scalar_type(context, tbaa_cstr("int"), any, &integer));
    CHECK_OK(tbaa_build_scalar_type(context, tbaa_cstr("float"), any, &real));
    CHECK_FAILS(tbaa_build_scalar_type(context, tbaa_cstr("x"), none, &out),
                TBAA_STATUS_UNKNOWN_ID, "type 0");
    tbaa_field fields[2] = {{integer, 0, 0}, {real, 4, 0}};
    CHECK_OK(tbaa_build_struct_type(context, tbaa_cstr("pair"), fields, 2, &pair));
    CHECK_FAILS(tbaa_build_struct_type(context, tbaa_cstr("none"), NULL, 0, &out),
                TBAA_STATUS_BUILD, "no fields");
    CHECK(out.id == 99);
    tbaa_tag first, second, whole, constant, mutable_tag, merged;
    CHECK_OK(tbaa_build_struct_tag(context, pair, integer, 0, false, &first));
    CHECK_OK(tbaa_build_struct_tag(context, pair, real, 4, false, &second));
    CHECK_OK(tbaa_build_struct_tag(context, integer, integer, 0, false, &whole));
    CHECK_OK(tbaa_build_struct_tag(context, pair, real, 4, true, &constant));
    CHECK_FAILS(tbaa_build_struct_tag(context, pair, integer, 2, false, &merged),
                TBAA_STATUS_BUILD, "no path");
    CHECK_OK(tbaa_build_mutable_tag(context, constant, &mutable_tag));
    CHECK(mutable_tag.id == second.id);
    CHECK(tbaa_build_mutable_tag(context, tbaa_no_tag(), &mutable_tag) ==
          TBAA_STATUS_UNKNOWN_ID);
    CHECK(tbaa_may_alias(oracle, first, whole) && !tbaa_may_alias(oracle, second, whole));
    CHECK_OK(tbaa_build_merged_tag(context, first, whole, &merged));
    CHECK(merged.id != 0 && tbaa_may_alias(oracle, merged, first));
    CHECK_OK(tbaa_build_merged_tag(context, first, tbaa_no_tag(), &merged));
    CHECK(merged.id == 0);
    tbaa_part parts[2] = {{first, 0, 4}, {second, 4, 4}};
    tbaa_copy copy;
    CHECK_OK(tbaa_build_copy(context, parts, 2, &copy));
    parts[1].offset = 2;
    CHECK_FAILS(tbaa_build_copy(context, parts, 2, &copy), TBAA_STATUS_BUILD, "entry 1");

    tbaa_type sized, record;
    tbaa_tag access;
    CHECK_OK(tbaa_build_root(context, tbaa_cstr("sized"), &root));
    CHECK_OK(tbaa_build_sized_type(context, tbaa_cstr("int"), root, 4, NULL, 0, &sized));
    fields[0] = (tbaa_field){sized, 0, 4};
    fields[1] = (tbaa_field){sized, 4, 4};
    CHECK_OK(tbaa_build_sized_type(context, tbaa_cstr("S"), root, 8, fields, 2, &record));
    CHECK_OK(tbaa_build_access_tag(context, record, sized, 4, 4, false, &access));
    CHECK(tbaa_may_alias(oracle, access, first));

    /* MLIR cannot express roots of two formats. */
    tbaa_text text;
    CHECK(tbaa_dump(oracle, TBAA_DUMP_FORMAT_MLIR, &text) == TBAA_STATUS_UNWRITABLE);
    tbaa_context_free(context);
}

static void snapshots(tbaa_context *context) {
    tbaa_tag next, key, later;
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.next"), &next));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("Node.key"), &key));
    const tbaa_oracle *live = tbaa_context_oracle(context), *a, *b, *c = NULL;
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_DEFAULT, &a));
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_DEFAULT, &b));
    CHECK(a == b);
    CHECK(tbaa_tag_count(a) == tbaa_tag_count(live) && !tbaa_may_alias(a, next, key));
    CHECK_FAILS(tbaa_context_snapshot(context, 9, &c), TBAA_STATUS_INVALID_ARGUMENT, "rule");
    CHECK(c == NULL);

    tbaa_type own;
    CHECK_OK(tbaa_build_anonymous_root(context, &own));
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("*float"), &later));
    CHECK(!tbaa_may_alias(live, next, later) && tbaa_may_alias(a, next, later));
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_LLVM, &c));
    CHECK(c != a && !tbaa_may_alias(c, next, later));

    /* After its last release, snapshot `a` is updated and returned again. */
    tbaa_oracle_release(a);
    CHECK(tbaa_oracle_retain(b) == b);
    tbaa_oracle_release(b);
    CHECK(tbaa_tag_count(b) < tbaa_tag_count(live));
    tbaa_oracle_release(b);
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_UNION, &a));
    CHECK(tbaa_tag_count(a) == tbaa_tag_count(live));
    for (uint32_t i = 1; i <= tbaa_tag_count(live); i++)
        for (uint32_t j = 1; j <= tbaa_tag_count(live); j++) {
            tbaa_tag x = {i}, y = {j};
            CHECK(tbaa_may_alias(a, x, y) == tbaa_may_alias(live, x, y));
        }
    tbaa_text of_live, of_snapshot;
    CHECK_OK(tbaa_dump(live, TBAA_DUMP_FORMAT_LLVM, &of_live));
    CHECK_OK(tbaa_dump(a, TBAA_DUMP_FORMAT_LLVM, &of_snapshot));
    CHECK(strcmp(of_live.data, of_snapshot.data) == 0);
    tbaa_text_free(&of_live);
    tbaa_text_free(&of_snapshot);

    /* References to the context's own oracle are not counted; snapshots outlive the context. */
    CHECK(tbaa_oracle_retain(live) == live && tbaa_oracle_retain(NULL) == NULL);
    tbaa_oracle_release(live);
    tbaa_oracle_release(NULL);
    tbaa_context_free(context);
    CHECK(!tbaa_may_alias(a, next, key) && !tbaa_may_alias(c, next, later));
    tbaa_oracle_release(a);
    tbaa_oracle_release(c);
    CHECK(tbaa_context_snapshot(NULL, 0, &a) == TBAA_STATUS_INVALID_ARGUMENT);
}

static void checks(void) {
    const char *module = "define void @f(ptr %p, ptr %v) {\n"
                         "  store i32 0, ptr %p, align 4, !tbaa !0\n"
                         "  store <vscale x 4 x i32> zeroinitializer, ptr %v, align 4, !tbaa !0\n"
                         "  ret void\n}\n"
                         "!0 = !{!1, !1, i64 0}\n!1 = !{!\"int\", !2, i64 0}\n"
                         "!2 = !{!\"char\", !3, i64 0}\n!3 = !{!\"my language\"}\n";
    tbaa_text text, skipped;
    CHECK_OK(tbaa_instrument(tbaa_cstr(module), &text, &skipped));
    CHECK(strstr(text.data, "call preserve_mostcc void @__tbaa_witness.write4.shared(ptr %p, ") != NULL);
    CHECK(strcmp(skipped.data, "3: @f: the size of the access is not known\n") == 0);
    tbaa_text_free(&skipped);
    tbaa_text again = {NULL, 0};
    tbaa_str checked = {text.data, text.len};
    CHECK_FAILS(tbaa_instrument(checked, &again, NULL), TBAA_STATUS_INVALID_ARGUMENT,
                "has been instrumented before");
    CHECK(again.data == NULL);
    tbaa_text_free(&text);
    CHECK_OK(tbaa_instrument(tbaa_cstr(""), &text, NULL));
    tbaa_text_free(&text);
    CHECK_FAILS(tbaa_instrument(tbaa_cstr(module), NULL, NULL), TBAA_STATUS_INVALID_ARGUMENT,
                "NULL");
}

int main(void) {
    versions_and_words();
    checks();
    contexts();
    specs();
    untagged();
    nodes();
    tbaa_context *context = declarations();
    paths(context);
    queries(context);
    snapshots(context);
    puts("ok");
    return 0;
}
