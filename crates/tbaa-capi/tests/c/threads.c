/* Four threads ask while the main thread adds types. Two ask snapshots, which the main thread
 * hands over; two have readers, which catch up by themselves. The test builds this with
 * -fsanitize=thread. */
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { ASKING = 2, READING = 2, STRUCTS = 200, FIELDS = 4, KNOWN = 64 };

/* The state that the threads share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const tbaa_oracle *current;
static bool done;

static const tbaa_oracle *take(bool *last) {
    pthread_mutex_lock(&lock);
    const tbaa_oracle *oracle = tbaa_oracle_retain(current);
    *last = done;
    pthread_mutex_unlock(&lock);
    return oracle;
}

static void hand_over(const tbaa_oracle *next, bool last) {
    pthread_mutex_lock(&lock);
    const tbaa_oracle *before = current;
    current = next;
    done = last;
    pthread_mutex_unlock(&lock);
    tbaa_oracle_release(before);
}

/* Asks all pairs of the first tags, again and again. Once both tags of a pair are known, its
 * answer never changes. */
static void *ask(void *result) {
    static _Thread_local bool known[KNOWN][KNOWN], answers[KNOWN][KNOWN];
    size_t asked = 0;
    for (bool last = false; !last;) {
        const tbaa_oracle *oracle = take(&last);
        uint32_t count = tbaa_tag_count(oracle);
        uint32_t first = count < KNOWN ? count : KNOWN;
        for (uint32_t i = 0; i < first; i++)
            for (uint32_t j = 0; j < first; j++) {
                tbaa_tag a = {i + 1}, b = {j + 1};
                bool may = tbaa_may_alias(oracle, a, b);
                CHECK(!known[i][j] || answers[i][j] == may);
                known[i][j] = true;
                answers[i][j] = may;
                asked++;
            }
        if (count > 1) {
            tbaa_tag newest = {count}, next = {count - 1};
            CHECK(tbaa_may_alias(oracle, newest, newest));
            CHECK(!tbaa_may_alias(oracle, newest, next));
            tbaa_text why;
            CHECK_OK(tbaa_explain(oracle, tbaa_access(newest, 0), tbaa_access(next, 0), &why));
            tbaa_text_free(&why);
        }
        /* Each thread has its own errors. */
        tbaa_text text;
        CHECK_FAILS(tbaa_dump(oracle, 99, &text), TBAA_STATUS_INVALID_ARGUMENT,
                    "tbaa_dump_format");
        tbaa_oracle_release(oracle);
    }
    *(size_t *)result = asked;
    return NULL;
}

/* The number of tags, and how many of them are published. */
static _Atomic uint32_t made, published;

/* Asks about the tags of the newest struct, and of an old one. */
static void *read_on(void *own) {
    tbaa_reader *reader = own;
    for (uint32_t count = 0, old = 0; count < FIELDS * STRUCTS; old++) {
        count = atomic_load(&published);
        /* A tag that is not yet published may alias everything; these may be published by now. */
        uint32_t newest = atomic_load(&made);
        (void)tbaa_reader_may_alias(reader, (tbaa_tag){newest}, (tbaa_tag){newest + 1});
        /* Under valgrind one thread runs at a time. */
        sched_yield();
        if (count == 0)
            continue;
        tbaa_tag a = {count}, b = {count - 1}, c = {1 + old % count};
        CHECK(tbaa_reader_may_alias(reader, a, a) && !tbaa_reader_may_alias(reader, a, b));
        CHECK(tbaa_reader_may_alias(reader, a, tbaa_no_tag()));
        CHECK(tbaa_reader_may_alias(reader, a, c) == (a.id == c.id));
        tbaa_memory_access load = tbaa_access(b, TBAA_EFFECT_READ);
        tbaa_memory_access store = tbaa_access(b, TBAA_EFFECT_WRITE);
        CHECK(tbaa_reader_may_conflict(reader, load, load) == 0);
        CHECK(tbaa_reader_may_conflict(reader, load, store) == TBAA_CONFLICT_WRITE_AFTER_READ);
        CHECK(tbaa_reader_access_may_alias(reader, load, store));
        CHECK(!tbaa_reader_access_may_alias(reader, load, tbaa_access(a, TBAA_EFFECT_BOTH)));
    }
    tbaa_reader_catch_up(reader);
    CHECK(!tbaa_reader_catch_up(reader));
    tbaa_reader_free(reader);
    return NULL;
}

/* The places that the adding thread has made, and their number. */
enum { COMPILING = 4 };
static tbaa_tagged places[STRUCTS];
static atomic_int given;

static void *count_node(void *data, const tbaa_operand *operands, size_t count, bool distinct) {
    (void)operands;
    (void)count;
    (void)distinct;
    return (void *)++*(uintptr_t *)data;
}

/* Emits each place as soon as it exists, to a sink that is this thread's own. */
static void *compile(void *made) {
    tbaa_sink sink = {count_node, made};
    tbaa_emitter *emitter;
    CHECK_OK(tbaa_emitter_new(&sink, &emitter));
    for (int done_with = 0; done_with < STRUCTS;) {
        int ready = atomic_load(&given);
        if (ready == done_with)
            sched_yield();
        for (; done_with < ready; done_with++) {
            tbaa_attachments nodes;
            CHECK_OK(tbaa_emit_tagged(emitter, &places[done_with], TBAA_INSTRUCTION_KIND_STORE, 8,
                                      &nodes));
            CHECK(nodes.tag != NULL && places[done_with].place.offset == 8);
            CHECK_FAILS(tbaa_emit_tagged(emitter, &places[done_with], TBAA_INSTRUCTION_KIND_STORE,
                                         9, &nodes),
                        TBAA_STATUS_REFUSED, "which has 8");
        }
    }
    tbaa_emitter_free(emitter);
    return NULL;
}

/* Four threads compile while this one adds types and places: all make the same nodes. */
static void compile_while_adding(void) {
    tbaa_context *context;
    tbaa_options options = tbaa_options_for_llvm();
    CHECK_OK(tbaa_context_new(&options, &context));
    pthread_t threads[COMPILING];
    uintptr_t made[COMPILING] = {0};
    for (int i = 0; i < COMPILING; i++)
        CHECK(pthread_create(&threads[i], NULL, compile, &made[i]) == 0);
    for (int i = 0; i < STRUCTS; i++) {
        static const tbaa_record_member members[] = {
            {TBAA_STR("size"), TBAA_STR("int"), 0, 0, 0, 0, 0},
            {TBAA_STR("next"), TBAA_STR("void *"), 0, 0, 0, 0, 0},
        };
        char name[16], path[24];
        snprintf(name, sizeof name, "S%d", i);
        snprintf(path, sizeof path, "S%d.next", i);
        tbaa_record record = {tbaa_cstr(name), members, 2, 0, 0, TBAA_RECORD_FLAG_COMPUTED};
        CHECK_OK(tbaa_declare(context, &record));
        tbaa_str text = tbaa_cstr(path);
        CHECK_OK(tbaa_places(context, &text, 1, &places[i]));
        atomic_store(&given, i + 1);
    }
    for (int i = 0; i < COMPILING; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(made[i] >= STRUCTS && made[i] == made[0]);
    }
    tbaa_context_free(context);
}

int main(void) {
    compile_while_adding();
    tbaa_context *context;
    tbaa_options options = {0};
    options.policy = TBAA_POLICY_RFC;
    options.rule = TBAA_RULE_UNION;
    CHECK_OK(tbaa_context_new(&options, &context));
    CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_DEFAULT, &current));

    pthread_t threads[ASKING];
    size_t asked[ASKING];
    for (int i = 0; i < ASKING; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, &asked[i]) == 0);
    pthread_t reading[READING];
    for (int i = 0; i < READING; i++) {
        tbaa_reader *reader;
        CHECK_OK(tbaa_reader_new(context, &reader));
        CHECK(pthread_create(&reading[i], NULL, read_on, reader) == 0);
    }
    for (int i = 0; i < STRUCTS; i++) {
        static const tbaa_record_member members[FIELDS] = {
            {TBAA_STR("a"), TBAA_STR("int"), 0, 0, 0, 0, 0},
            {TBAA_STR("b"), TBAA_STR("double"), 0, 0, 0, 0, 0},
            {TBAA_STR("c"), TBAA_STR("int"), 0, 0, 0, 0, 0},
            {TBAA_STR("d"), TBAA_STR("void *"), 0, 0, 0, 0, 0},
        };
        char name[16], path[24];
        snprintf(name, sizeof name, "S%d", i);
        tbaa_record record = {tbaa_cstr(name), members, FIELDS, 0, 0, TBAA_RECORD_FLAG_COMPUTED};
        CHECK_OK(tbaa_declare(context, &record));
        for (int f = 0; f < FIELDS; f++) {
            tbaa_tag tag;
            snprintf(path, sizeof path, "%s.%c", name, 'a' + f);
            CHECK_OK(tbaa_tag_of(context, tbaa_cstr(path), &tag));
        }
        atomic_store(&made, FIELDS * (i + 1));
        CHECK_OK(tbaa_context_publish(context));
        atomic_store(&published, FIELDS * (i + 1));
        /* Only this thread uses the context's own oracle. */
        CHECK(tbaa_tag_count(tbaa_context_oracle(context)) == (uint32_t)(FIELDS * (i + 1)));
        const tbaa_oracle *next;
        CHECK_OK(tbaa_context_snapshot(context, TBAA_RULE_DEFAULT, &next));
        hand_over(next, i == STRUCTS - 1);
    }
    tbaa_context_free(context);
    for (int i = 0; i < READING; i++)
        CHECK(pthread_join(reading[i], NULL) == 0);
    CHECK(tbaa_reader_new(NULL, NULL) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_context_publish(NULL) == TBAA_STATUS_INVALID_ARGUMENT);
    CHECK(tbaa_reader_may_alias(NULL, (tbaa_tag){1}, (tbaa_tag){2}));
    tbaa_memory_access any = tbaa_access(tbaa_no_tag(), TBAA_EFFECT_BOTH);
    CHECK(tbaa_reader_may_conflict(NULL, any, any) == 7);
    CHECK(!tbaa_reader_catch_up(NULL));
    tbaa_reader_free(NULL);
    for (int i = 0; i < ASKING; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(asked[i] > 0);
    }
    hand_over(NULL, true);
    puts("ok");
    return 0;
}
