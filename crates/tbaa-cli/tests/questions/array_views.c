// Title: an array of int written as an array of short
// Asked: `int[8]` and `short[8]` are one buffer, and stores are removed. Is DSE wrong?
// Source: https://github.com/llvm/llvm-project/issues/62828
// Answer: No: the program reads as `short` what it stored as `int`.
// $ tbaa run FILE
// says: as "int"
// says: as "short"
// exit: 66
#include <stdio.h>
static int a[8];
int main(void) {
  for (int i = 0; i < 8; i++) a[i] = i;
  short *s = (short *)a;
  int sum = 0;
  for (int i = 0; i < 8; i++) sum += s[i];
  printf("%d\n", sum);
}
