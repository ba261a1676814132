// An allocator that says what it hands out: of the rest of its memory nothing is forgotten.
#include "tbaa_witness.h"
#include <stdlib.h>

static char *pool;
static size_t used;
static void (*volatile wrote)(const void *, size_t) = tbaa_witness_wrote;

__attribute__((noinline)) void *take(void) {
  void *part = pool + used;
  used += 16;
  tbaa_witness_fresh(part, 16);
  return part;
}

__attribute__((noinline)) float as_float(void *from) {
  return *(float *)from; // second
}

static volatile float ignored;

int main(void) {
  pool = malloc(64);
  int *kept = take();
  *kept = 1; // first
  wrote(take(), 16);
  ignored = as_float(kept);
  return 0;
}
