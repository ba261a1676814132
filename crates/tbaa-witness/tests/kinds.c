// Two kinds of contradictions: three pairs of the one, one of the other; in a block of 64
// bytes and in a mapping; by static functions.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline)) static

FAR void write_long(void *at) { *(long *)at = 1; }
FAR double read_double(void *at) { return *(double *)at; }
FAR double near_by(void *at) {
  *(long *)at = 2;
  return *(double *)at; // best
}
FAR double read_again(void *at) { return *(double *)at; }
FAR void write_int(void *at) { *(int *)at = 3; }
FAR float read_float(void *at) { return *(float *)at; }

static volatile double sum;
int main(void) {
  void *block = malloc(64);
  sum += read_again((char *)block + 32);
  write_long((char *)block + 8);
  sum += read_double((char *)block + 8);
  // By the same tag, nothing written between: one more place in the program all the same.
  sum += read_again((char *)block + 8);
  sum += near_by((char *)block + 16);
  char *mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  write_int(mapped + 4096);
  sum += read_float(mapped + 4096);
  return 0;
}
