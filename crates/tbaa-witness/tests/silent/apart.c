/* Memory that is used again by functions that are not inlined into one another, as an allocator's is. */
#include <stddef.h>
#define FAR __attribute__((noinline)) static
static _Alignas(16) char pool[64];
FAR void *take(void) { return pool; }
FAR void number(void) {
  long *p = take();
  *p = 1;
}
FAR void part(void) {
  double *p = take();
  *p = 2;
  float other[4];
  for (size_t at = 0; at < 4; at++) other[at] = at;
  *p += other[3];
}
int main(void) {
  for (int i = 0; i < 4; i++) number(), part();
  return 0;
}
