// A function that is called between two reads of the same bytes writes them.
#include <stdlib.h>
#include "tbaa_witness.h"

__attribute__((noinline)) static void change(float *q) {
  tbaa_witness_fresh(q, sizeof *q);
  *q = 1.0f; // first
}

static int twice(int *p, float *q, int n) {
  int sum = *p;
  if (n)
    change(q);
  return sum + *p; // second
}

int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  return twice(p, (float *)p, 1) == 0;
}
