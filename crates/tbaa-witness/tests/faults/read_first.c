/* A float is read, and an int written over it. */
#include <stdlib.h>
float sink;
__attribute__((noinline)) void take(float *p) {
  sink = *p; // first
}
__attribute__((noinline)) void put(int *p) {
  *p = 1; // second
}
int main(void) {
  void *p = calloc(1, 8);
  take(p);
  put(p);
  free(p);
  return 0;
}
