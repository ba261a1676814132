// Title: a NaN box
// Asked: A NaN box holds doubles and pointers. Why is a list lost at -O2?
// Source: https://github.com/llvm/llvm-project/issues/203703
// Answer: It is written as `double` and read as `unsigned long`. Use memcpy or a local union.
// $ tbaa run FILE
// says: as "double"
// says: as "long"
// exit: 66
#include <stdio.h>
static double box[2];
__attribute__((noinline)) static unsigned long tag(double *x) { return *(unsigned long *)x >> 48; }
int main(void) {
  box[0] = 1.5;
  printf("%lx\n", tag(box));
}
