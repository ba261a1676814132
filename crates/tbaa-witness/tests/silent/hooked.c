/* An allocator, and code that is not checked, that tell the library. */
#include "tbaa_witness.h"
static _Alignas(16) char pool[64];
__attribute__((noinline)) void *take(void) {
  tbaa_witness_fresh(pool, sizeof pool);
  return pool;
}
float sum;
__attribute__((noinline)) float get(float *p) { return *p; }
__attribute__((noinline)) int get_int(int *p) { return *p; }
int main(void) {
  for (int i = 0; i < 10; i++) {
    float *f = take();
    *f = 2;
    sum += get(f);
    int *n = take();
    *n = 7;
    sum += get_int(n);
    tbaa_witness_wrote(n, sizeof *n);
    sum += get((float *)n);
  }
  return tbaa_witness_reports();
}
