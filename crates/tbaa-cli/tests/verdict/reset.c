/* verdict: so LLVM is wrong: docs/llvm.md */
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void turns(float *f, int *count, int n) {
  for (int k = 0; k < n; k++) {
    *f = k * 0.5f;
    count[k] = k;
  }
}
int main(void) {
  char *arena = malloc(64);
  turns((float *)(arena + 4), (int *)arena, 2);
  int last = ((int *)arena)[1];
  printf("%d\n", last);
  return last != 1;
}
