/* A hash of 64 bits, as `long` here and as `long long` there. */
#include <stdint.h>
static uint64_t memory;
__attribute__((noinline)) static uint64_t mix(uint64_t *hash, unsigned long long *word) {
  *hash = 1;
  *word = 2; // first
  return *hash; // second
}
int main(void) {
  void *volatile p = &memory;
  return mix(p, p) != 2;
}
