// Title: an int through a pointer to short
// Asked: A loop's condition reads an `int *` as `short *`. TypeSanitizer is silent at -O2. Is it right?
// Source: https://github.com/llvm/llvm-project/issues/206226
// Answer: No. Optimised code lacks the load; `tbaa run` checks the program as written.
// $ tbaa run FILE
// says: as "int"
// says: as "short"
// exit: 66
#include <stdio.h>
static int until(int limit, int *k) {
  short *s = (short *)k;
  int turns = 0;
  while (limit > s[0] && turns < 3) turns++;
  return turns;
}
int main(void) {
  int f = 0;
  printf("%d\n", until(9, &f));
}
