// Title: long and long long
// $ tbaa run FILE
// says: as "long long"
// exit: 66
#include <stdio.h>
static long x;
int main(void) { x = 5; printf("%lld\n", *(long long *)&x); }
