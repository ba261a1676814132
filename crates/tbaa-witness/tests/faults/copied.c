/* What a struct copy wrote, read as something else. */
#include <stdlib.h>
struct Pair { int a; int b; char c[24]; };
struct Pair from;
float sink;
__attribute__((noinline)) void copy(struct Pair *to) {
  *to = from; // first
}
__attribute__((noinline)) float get(float *p) {
  return *p; // second
}
int main(void) {
  struct Pair *p = malloc(sizeof *p);
  copy(p);
  sink = get((float *)&p->b);
  free(p);
  return 0;
}
