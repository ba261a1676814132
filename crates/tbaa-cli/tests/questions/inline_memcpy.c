// Title: memcpy between views
// Asked: Is `memcpy` slower than a union for the bits of a `double`?
// Source: https://github.com/llvm/llvm-project/issues/203703
// Answer: No: clang makes one move of it, and the program is right.
// $ tbaa run FILE
// never: contradiction
// $ clang-22 -O2 -S -emit-llvm -o - FILE | grep -c 'call.*memcpy' || true
// says: 0
#include <stdio.h>
#include <string.h>
static double box = 1.5;
__attribute__((noinline)) static unsigned long tag(double *x) {
  unsigned long bits;
  memcpy(&bits, x, sizeof bits);
  return bits >> 48;
}
int main(void) {
  printf("%lx\n", tag(&box));
}
