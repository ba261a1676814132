// Title: memory that holds one object after another: right by C, so a run says nothing
// $ tbaa run FILE
// says: 1 2
// never: contradiction
// exit: 0
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void *memory = malloc(8);
  *(float *)memory = 1;
  float f = *(float *)memory;
  *(int *)memory = 2;
  printf("%g %d\n", f, *(int *)memory);
}
