// A read repeats one that every way leads through; on one of the ways is a write.
#include <stdlib.h>
#include "tbaa_witness.h"

static int twice(int *p, float *q, int n) {
  int sum = *p;
  if (n) {
    tbaa_witness_fresh(q, sizeof *q);
    *q = 1.0f; // first
  }
  return sum + *p; // second
}

int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  return twice(p, (float *)p, 1) == 0;
}
