/* Two structs that begin alike are two types all the same. */
#include <stdlib.h>
struct A { int kind; int a; };
struct B { int kind; float b; };
int sink;
__attribute__((noinline)) void make(struct A *a) {
  a->kind = 1; // first
}
__attribute__((noinline)) int look(struct B *b) {
  return b->kind; // second
}
int main(void) {
  void *p = malloc(8);
  make(p);
  sink = look(p);
  free(p);
  return 0;
}
