/* Memory that is freed and given out again, or moved by realloc. */
#include <stdlib.h>
int main(void) {
  float sum = 0;
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
  }
  return sum < 0;
}
