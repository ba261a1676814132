// A loop reads what was read before it, and writes it at the end of its turn.
#include <stdlib.h>
#include "tbaa_witness.h"

static int turns(int *p, float *q) {
  int sum = *p;
  for (int i = 0; i < 2; i++) {
    sum += *p; // second
    tbaa_witness_fresh(q, sizeof *q);
    *q = 1.0f; // first
  }
  return sum;
}

int main(void) {
  int *p = malloc(sizeof *p);
  *p = 1;
  return turns(p, (float *)p) == 0;
}
