// The same expression reads another object once its pointer has been changed.
#include <stdlib.h>

static int both(int *p, int *other, int n) {
  int sum = *p;
  if (n)
    p = other;
  return sum + *p; // second
}

int main(void) {
  int *p = malloc(sizeof *p);
  float *q = malloc(sizeof *q);
  *p = 1;
  *q = 1.0f; // first
  return both(p, (int *)q, 1) == 0;
}
