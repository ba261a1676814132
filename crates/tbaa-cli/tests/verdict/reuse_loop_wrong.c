/* verdict: mend that and search again */
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
  int last = *(int *)block;
  printf("%d\n", last);
  free(block);
  return last != 5;
}
