// Title: the same by a local union
// Asked: Is a local union safe to read the bits of a `double`?
// Source: https://github.com/llvm/llvm-project/issues/203703
// Answer: Yes, if both accesses name the union's members.
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
