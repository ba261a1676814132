// Title: a struct of bit-fields, cleared through an int pointer
// Asked: `*(int *)&t = 0` clears a struct of bit-fields, wrongly with gcc -O2. And with clang?
// Source: https://besthub.dev/articles/unexpected-behavior-with-o2-optimization-due-to-strict-aliasing-violations-in-c-2595522e9654
// Answer: C forbids it, but clang does not tag bit-fields.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
struct clock { unsigned second : 8, minute : 8, hour : 8, rest : 8; };
int main(void) {
  struct clock t;
  *(int *)&t = 0;
  t.second = 9;
  printf("%d\n", *(int *)&t);
}
