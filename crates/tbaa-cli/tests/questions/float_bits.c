// Title: the bits of a float by a pointer cast
// Asked: Is `*(int *)&f` right?
// Source: https://blog.cykerway.com/posts/2015/12/26/strict-aliasing.html
// Answer: No, though it often works. memcpy gives the same instructions.
// $ tbaa lint FILE
// says: float_bits.c:17:
// says: a value stored as float is read as int
// says: memcpy
// exit: 1
// $ tbaa run FILE
// says: contradiction 1
// exit: 66
#include <stdio.h>
int main(void) {
  float f;
  f = 1.5f;
  printf("%d\n", *(int *)&f);
}
