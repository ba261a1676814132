/* Pages that are given up, and begin as zeroes of any type. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((noinline)) void write_ints(int *p, int n) {
  for (int i = 0; i < n; i++) p[i] = i;
}
__attribute__((noinline)) float read_floats(float *p, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  return sum;
}
static int (*volatile by)(void *, size_t, int) = madvise;
int main(void) {
  int many = 1 << 18, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void *p = mmap(NULL, 4 * many, PROT_READ | PROT_WRITE, flags, -1, 0);
  write_ints(p, many);
  if (madvise(p, 4 * many, MADV_DONTNEED)) return 1;
  if (read_floats(p, many) != 0) return 2;
  if (madvise(p, 4 * many, MADV_DONTNEED)) return 3;
  write_ints(p, 1024);
  if (by(p, 4096, MADV_FREE)) return 0;
  if (madvise(p, 4096, MADV_DONTNEED)) return 4;
  return read_floats(p, 1024) != 0;
}
