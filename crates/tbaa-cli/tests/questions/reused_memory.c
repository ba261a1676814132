// Title: memory that holds one object after another: right by C, and LLVM's tags know no such change
// $ tbaa run FILE
// says: contradiction 1: a read, and a later write over what it read
// exit: 66
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  void *memory = malloc(8);
  *(float *)memory = 1;
  float f = *(float *)memory;
  *(int *)memory = 2;
  printf("%g %d\n", f, *(int *)memory);
}
