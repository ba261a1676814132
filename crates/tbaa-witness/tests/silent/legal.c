/* What C allows: bits through memcpy and unions, all through char. */
#include <stdlib.h>
#include <string.h>
union Word { int i; float f; short s[2]; };
struct Nested { int tag; union { int i; float f; } u; };
float sum;
__attribute__((noinline)) void each(union Word *w, struct Nested *n) {
  w->i = 4;
  sum += w->f;
  w->s[1] = 3;
  sum += w->i;
  n->u.i = 3;
  sum += n->u.f;
}
__attribute__((noinline)) int bits(float f) {
  int i;
  memcpy(&i, &f, sizeof i);
  return i;
}
__attribute__((noinline)) void bytes(void *p, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)p)[i] ^= 1;
}
int main(void) {
  union Word word;
  struct Nested nested = {0};
  each(&word, &nested);
  sum += bits(2.5f);
  float *f = malloc(64);
  for (int i = 0; i < 16; i++) f[i] = i;
  bytes(f, 64);
  int *n = malloc(64);
  memcpy(n, f, 64);
  for (int i = 0; i < 16; i++) sum += n[i];
  memmove(f, n, 32);
  for (int i = 0; i < 16; i++) sum += f[i];
  memset(n, 0, 64);
  for (int i = 0; i < 8; i++) sum += ((float *)n)[i];
  free(f);
  free(n);
  return 0;
}
