// Title: int and unsigned int
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
static int x;
int main(void) { x = -1; printf("%u\n", *(unsigned *)&x); }
