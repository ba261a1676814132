/* The writes stand in two functions that are inlined into one. */
#include <stdlib.h>
static void set_number(long *to, long value) {
  *to = value; // first
}
static void set_part(double *to, double value) {
  *to = value; // second
}
__attribute__((noinline)) static void both(void *p, void *q) {
  set_number(p, 1);
  set_part(q, 2);
}
int main(void) {
  void *p = malloc(16);
  both(p, p);
  free(p);
  return 0;
}
