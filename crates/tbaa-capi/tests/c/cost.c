/* Measures calls from C, in nanoseconds. Prints the fastest of several rounds: other work of
 * the machine can only add time. The figures have no limits. */
#define _POSIX_C_SOURCE 199309L
#include "check.h"
#include <time.h>

enum { RECORDS = 300, FIELDS = 8, TAGS = RECORDS * FIELDS, PAIRS = 1 << 20, ROUNDS = 9 };

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

static double fastest(const double *rounds) {
    double best = rounds[0];
    for (int i = 1; i < ROUNDS; i++)
        best = rounds[i] < best ? rounds[i] : best;
    return best;
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static tbaa_tag tags[TAGS];
static uint16_t pairs[2 * PAIRS];

static void measure(uint32_t rule, const char *name) {
    static const char *const types[] = {"int", "double", "void *", "short", "R0 *", "float"};
    tbaa_options options = {0};
    options.policy = rule == TBAA_RULE_LLVM ? TBAA_POLICY_CLANG : TBAA_POLICY_RFC;
    options.rule = rule;
    tbaa_context *context;
    CHECK_OK(tbaa_context_new(&options, &context));
    uint64_t state = 1;
    double start = now();
    for (int i = 0; i < RECORDS; i++) {
        static char record_name[16], names[FIELDS][8];
        tbaa_record_member members[FIELDS];
        memset(members, 0, sizeof members);
        for (int f = 0; f < FIELDS; f++) {
            snprintf(names[f], sizeof names[f], "f%d", f);
            members[f].name = tbaa_cstr(names[f]);
            members[f].type_text = tbaa_cstr(types[i == 0 ? 0 : next_random(&state) % 6]);
        }
        snprintf(record_name, sizeof record_name, "R%d", i);
        tbaa_record record = {tbaa_cstr(record_name), members, FIELDS, 0, 0,
                              TBAA_RECORD_FLAG_COMPUTED};
        CHECK_OK(tbaa_declare(context, &record));
    }
    double declared = now();
    for (int i = 0; i < TAGS; i++) {
        char path[32];
        snprintf(path, sizeof path, "R%d.f%d", i / FIELDS, i % FIELDS);
        CHECK_OK(tbaa_tag_of(context, tbaa_cstr(path), &tags[i]));
    }
    double tagged = now();
    printf("%-12s a record of %d members declared: %.0f; a tag by its path: %.0f\n", name, FIELDS,
           (declared - start) / RECORDS, (tagged - declared) / TAGS);

    for (int i = 0; i < 2 * PAIRS; i++)
        pairs[i] = (uint16_t)(next_random(&state) % TAGS);
    double rounds[ROUNDS], conflicts[ROUNDS], empty[ROUNDS];
    const tbaa_oracle *oracle = tbaa_context_oracle(context);
    uint32_t may = 0, conflict = 0, none = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now();
        for (int i = 0; i < PAIRS; i++)
            may += tbaa_may_alias(oracle, tags[pairs[2 * i]], tags[pairs[2 * i + 1]]);
        rounds[round] = (now() - from) / PAIRS;
        from = now();
        for (int i = 0; i < PAIRS; i++)
            conflict += tbaa_may_conflict(oracle, tbaa_access(tags[pairs[2 * i]], 1),
                                          tbaa_access(tags[pairs[2 * i + 1]], 2)) != 0;
        conflicts[round] = (now() - from) / PAIRS;
        from = now();
        for (int i = 0; i < PAIRS; i++)
            none += tbaa_is_constant(NULL, tags[pairs[2 * i]]);
        empty[round] = (now() - from) / PAIRS;
    }
    CHECK(may == conflict && none == 0);
    printf("%-12s tbaa_may_alias: %.2f; tbaa_may_conflict: %.2f; a call that does nothing: %.2f\n",
           name, fastest(rounds), fastest(conflicts), fastest(empty));

    const tbaa_oracle *snapshot;
    start = now();
    CHECK_OK(tbaa_context_snapshot(context, 0, &snapshot));
    double first = now() - start;
    tbaa_oracle_release(snapshot);
    tbaa_tag tag;
    CHECK_OK(tbaa_tag_of(context, tbaa_cstr("*R7 *"), &tag));
    start = now();
    CHECK_OK(tbaa_context_snapshot(context, 0, &snapshot));
    printf("%-12s a snapshot of %u tags: %.0f; of one tag more: %.0f\n", name,
           (unsigned)tbaa_tag_count(snapshot), first, now() - start);
    tbaa_oracle_release(snapshot);
    tbaa_context_free(context);
}

int main(void) {
    measure(TBAA_RULE_LLVM, "llvm");
    measure(TBAA_RULE_UNION, "union");
    measure(TBAA_RULE_UNION_STRICT, "union-strict");
    return 0;
}
