// Title: floats in an array of doubles
// Asked: A `double a[29]` also holds floats, by `(float *)a`. Why does -O2 compute another sum?
// Source: https://github.com/llvm/llvm-project/issues/45282
// Answer: `float` may not be stored over declared `double`s and read as `double`.
// $ tbaa run FILE
// says: as "float"
// says: as "double"
// exit: 66
#include <stdio.h>
int main(void) {
  double room[8];
  float *small = (float *)room;
  for (int i = 0; i < 16; i++) small[i] = i * 0.5f;
  for (int i = 1; i < 4; i++) {
    room[i - 1] = small[i] * small[i + 8];
    small[i + 8] = small[i - 1] + 1;
  }
  printf("%g %g\n", room[1], small[9]);
}
