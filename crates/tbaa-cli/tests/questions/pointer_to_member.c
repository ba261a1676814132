// Title: a union is read through a pointer to its member
// Asked: gcc calls `ip = &t.i; *ip` after `t.d = 3.0` a violation. Is it wrong with clang?
// Source: https://github.com/jibsen/spooky/issues/1
// Answer: C forbids it, but clang tags `t.d` as `char`.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
union number { int i; double d; };
int main(void) { union number t; int *ip = &t.i; t.d = 3.0; printf("%d\n", *ip); }
