/* Frames that never return, and what lies in their place later. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf place;
float sum;
__attribute__((noinline)) void leave(int *p) {
  sum += *p;
  longjmp(place, 1);
}
__attribute__((noinline)) void deep(int n) {
  int local[8];
  local[n % 8] = n;
  if (n) deep(n - 1);
  leave(&local[n % 8]);
}
static int by_float(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}
int main(void) {
  for (int i = 0; i < 50; i++) {
    if (!setjmp(place)) deep(i % 20);
    float array[64];
    for (int j = 0; j < 64; j++) array[j] = (j * 37) % 64;
    qsort(array, 64, sizeof *array, by_float);
    sum += array[i];
  }
  return 0;
}
