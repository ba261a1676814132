/* An allocator that nobody told the library of hands memory out again. */
#include <stdlib.h>
#include <stddef.h>
static _Alignas(16) char pool[64];
float sink;
__attribute__((noinline)) void *take(void) { return pool; }
__attribute__((noinline)) float get(float *p) {
  return *p; // first
}
__attribute__((noinline)) void set(int *p) {
  *p = 7; // second
}
int main(void) {
  float *f = take();
  *f = 2;
  sink = get(f);
  set(take());
  return 0;
}
