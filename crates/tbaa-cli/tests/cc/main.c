#include <stdlib.h>
#include "put.h"
int main(void) { float *p = malloc(8); put(p); return *(int *)p == 0; }
