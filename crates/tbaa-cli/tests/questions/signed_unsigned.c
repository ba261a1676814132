// Title: int and unsigned int
// Asked: May an `int` be read as `unsigned`?
// Source: https://stackoverflow.com/questions/98650
// Answer: Yes.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
static int x;
int main(void) { x = -1; printf("%u\n", *(unsigned *)&x); }
