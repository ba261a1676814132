// What a function allocates on the stack while it runs ends with it, and with its loop's turn: then arguments may lie there.
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
__attribute__((noinline)) static long sum(int n, ...) {
  va_list ap; va_start(ap, n); long s = 0;
  for (int i = 0; i < n; i++) s += va_arg(ap, long);
  va_end(ap); return s;
}
__attribute__((noinline)) static double rows(int n) {
  double s = 0;
  for (int i = 1; i < n; i++) { double d[i * 9]; for (int k = 0; k < i * 9; k++) d[k] = k; s += d[i]; if (sum(9, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L) != 45) return 0; }
  for (int i = 0; i < 4; i++) { float *f = alloca(64); for (int k = 0; k < 16; k++) f[k] = k; s += f[i]; }
  return s;
}
int main(void) { printf("%g\n", rows(12)); printf("%ld\n", sum(12, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L)); }
