// Title: an int and a float that are written in turn
// $ tbaa run FILE
// says: as "int"
// says: as "float"
// exit: 66
#include <stdio.h>
union both { int i; float f; };
__attribute__((noinline)) static void set(int *i, float *f, long n) {
  for (long k = 0; k < n; k++) {
    *f = 2;
    if (k == 1) break;
    *i = 4;
  }
}
int main(void) {
  union both b = {0};
  set(&b.i, &b.f, 2);
  float *volatile f = &b.f;
  int *volatile i = &b.i;
  printf("%g %d\n", *f, *i);
}
