// Title: a struct goes by its typedef, also at run time
// $ tbaa run FILE
// exit: 66
// says: read   4 bytes as "int" at 0 of "number"
// never: a type without a name
// $ tbaa run FILE --flags -g0
// exit: 66
// says: read   4 bytes as "int" at 0 of a type without a name
// $ tbaa explain FILE @set:1 @set:2
// says: bytes of number
// never: unnamed
#include <stdlib.h>
typedef struct { int i; float f; } number;
__attribute__((noinline)) int set(number *n, short *half) {
  n->i = 1;
  half[1] = 2;
  return n->i;
}
int main(void) {
  void *p = malloc(sizeof(number));
  return set(p, p) == 7;
}
