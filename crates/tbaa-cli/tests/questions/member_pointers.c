// Title: stores through pointers to two members
// Asked: An `int *` and a `short *` write one union. Why is the last value lost?
// Source: https://github.com/llvm/llvm-project/issues/82893 https://github.com/llvm/llvm-project/issues/51837 https://github.com/llvm/llvm-project/issues/53979 https://github.com/llvm/llvm-project/issues/62544
// Answer: Accesses through pointers to members name no union: LLVM may exchange them.
// $ tbaa run FILE
// says: as "short"
// says: as "int"
// exit: 66
#include <stdio.h>
static union { short e; int g; } u;
static int *k = &u.g; static short *r = &u.e;
int main(void) { *r = 2; printf("%d\n", *k); }
