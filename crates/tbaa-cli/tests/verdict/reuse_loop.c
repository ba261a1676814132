/* verdict: so LLVM is wrong: docs/llvm.md */
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void both(int *count, float *mean, int n) {
  for (int i = 0; i < n; i++) {
    count[i] = i + 5;
    *mean = 2.5f;
  }
}
int main(void) {
  void *block = malloc(4);
  both(block, block, 1);
  float f = *(float *)block;
  printf("%g\n", f);
  free(block);
  return f != 2.5f;
}
