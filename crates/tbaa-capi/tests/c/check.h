/* Checks for the test programs, which print where they failed. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tbaa.h>

#define CHECK(condition)                                                                         \
    ((condition) ? (void)0                                                                       \
                 : (fprintf(stderr, "%s:%d: %s; last error: %.*s\n", __FILE__, __LINE__,         \
                            #condition, (int)tbaa_last_error().len, tbaa_last_error().data),     \
                    abort()))

#define CHECK_OK(call) CHECK((call) == TBAA_STATUS_OK)

/* Checks that a call fails with this status, and that the error contains these words. */
#define CHECK_FAILS(call, expected, words)                                                       \
    (CHECK((call) == (expected)), CHECK(said(tbaa_last_error(), (words))))

static inline bool said(tbaa_str text, const char *words) {
    size_t len = strlen(words);
    for (size_t at = 0; at + len <= text.len; at++)
        if (memcmp(text.data + at, words, len) == 0)
            return true;
    return false;
}

#endif
