#include <stdio.h>
__attribute__((noinline)) float twice(int *p, int *q) {
  int bits = *p;
  *q = bits + 0x00800000;
  return *(float *)p;
}
int main(void) {
  int one = 0x3f800000;
  printf("%g\n", twice(&one, &one));
  return 0;
}
