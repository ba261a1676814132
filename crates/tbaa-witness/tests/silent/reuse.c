/* Memory that is freed and given out again, or moved by realloc. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
int main(void) {
  float sum = 0;
  /* A block larger than asked for grows into what was another's. */
  float *many[9];
  for (int i = 0; i < 9; i++) {
    many[i] = malloc(520);
    many[i][128] = i;
    sum += many[i][128];
  }
  for (int i = 0; i < 8; i++) free(many[i]);
  long *grown = realloc(malloc(504), 520);
  grown[64] = 7;
  sum += grown[64];
  free(grown);
  free(many[8]);
  for (int i = 0; i < 1000; i++) {
    int *a = malloc(24);
    a[i % 6] = i;
    sum += a[i % 6];
    free(a);
    float *b = malloc(24);
    b[i % 6] = i;
    sum += b[i % 6];
    b = realloc(b, 24 + i % 50 * 100);
    sum += b[i % 6];
    long *c = (long *)(b + 6 + i % 4 * 2);
    if (i % 50 > 2) {
      *c = i;
      sum += *c;
    }
    free(b);
    double *d = aligned_alloc(64, 64);
    *d = sum;
    sum = *d;
    free(d);
    int *e = i % 2 ? valloc(64) : pvalloc(64);
    *e = i;
    sum += *e;
    free(e);
    float *f = reallocarray(NULL, 6, 4);
    f[i % 6] = i;
    f = reallocarray(f, 6 + i % 50, 4);
    sum += f[i % 6];
    free(f);
    if (i % 100 == 0) {
      int flags = MAP_PRIVATE | MAP_ANONYMOUS;
      int *g = mmap(NULL, 8192, PROT_READ | PROT_WRITE, flags, -1, 0);
      long *h = mmap(NULL, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
      *g = *h = i;
      sum += *g + *h;
      /* In the other's place, with what it holds. */
      long *moved = mremap(h, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, g);
      sum += *moved;
      munmap(g, 8192);
    }
  }
  return sum < 0;
}
