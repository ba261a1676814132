// Title: an array of char pointers read as void pointers
// Asked: `char *names[]` is counted through `void **`. Did clang 20 break it?
// Source: https://github.com/llvm/llvm-project/issues/119099
// Answer: No longer: clang lets `void *` be any pointer, though C does not.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
static int count(void *list) { void **p = list; int n = 0; while (p[n]) n++; return n; }
int main(void) {
  const char *names[] = {"one", "two", 0};
  printf("%d\n", count(names));
}
