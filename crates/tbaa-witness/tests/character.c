#include <stdlib.h>
struct a { long l; unsigned char c; };
struct b { long l; unsigned char c; };
int main(void) { struct a *a = malloc(16); a->c = 1;
return ((struct b *)a)->c - 1; }
