/* Assembly between the two that does not say that it touches memory. */
#include <stdlib.h>
__attribute__((noinline)) static int count(int *n, float *f) {
  float value = 0;
  *n = 1;
  __asm__("" : "+x"(value));
  *f = value; // first
  return *n; // second
}
int main(void) {
  void *volatile p = malloc(4);
  return count(p, p) != 0;
}
