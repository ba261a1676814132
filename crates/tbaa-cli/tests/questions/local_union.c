// Title: the same by a local union
// $ tbaa run FILE
// never: contradiction
// $ tbaa lint FILE
// exit: 0
#include <stdio.h>
static unsigned long tag(double x) {
  union { double x; unsigned long bits; } u = {x};
  return u.bits >> 48;
}
int main(void) {
  printf("%lx\n", tag(1.5));
}
