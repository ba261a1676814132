/* A vector of numbers that grows, and is used by an old type afterwards. */
#include <stdlib.h>
__attribute__((noinline)) static int grow(float **vector, int *first) {
  *first = 1;
  **vector = 0; // first
  return *first; // second
}
int main(void) {
  float *vector = malloc(16);
  vector = realloc(vector, 4096);
  void *volatile first = vector;
  return grow(&vector, first) != 0;
}
