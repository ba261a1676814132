// Title: pointers to pointers to char and to int
// Asked: May a store through `char ***` and a load through `int ***` be of one object?
// Source: https://github.com/llvm/llvm-project/pull/200392
// Answer: Not by clang 22: `char **` and `int **` are different types.
// $ tbaa run FILE
// says: as "char **"
// exit: 66
#include <stdio.h>
static char *text;
static void *slot;
int main(void) {
  *(char ***)&slot = &text;
  printf("%d\n", *(int ***)&slot != 0);
}
