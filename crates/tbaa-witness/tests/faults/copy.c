/* A struct is copied by its members' tags, from memory that holds others. */
#include <stdlib.h>
struct Pair { int a; int b; char c[24]; };
struct Pair sink;
__attribute__((noinline)) void set(float *p) {
  *p = 7; // first
}
__attribute__((noinline)) void copy(struct Pair *to, struct Pair *from) {
  *to = *from; // second
}
int main(void) {
  struct Pair *p = calloc(1, sizeof *p);
  set((float *)&p->b);
  copy(&sink, p);
  free(p);
  return 0;
}
