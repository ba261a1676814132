/* An int is written, and read as a float. */
#include <stdlib.h>
__attribute__((noinline)) void as_int(int *p) {
  *p = 5; // first
}
__attribute__((noinline)) float as_float(float *p) {
  return *p; // second
}
float sink;
int main(void) {
  float *p = malloc(24);
  *p = 1;
  as_int((int *)p);
  sink = as_float(p);
  free(p);
  return 0;
}
