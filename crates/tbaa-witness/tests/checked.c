#include <stdlib.h>
void plain(int **);
int main(void) { int *p = malloc(40);
for (int i = 0; i < 10; i++) p[i] = i;
int **q = malloc(8); *q = p;
plain(q); plain(q);
return (int)*(float *)(p + 3); }
