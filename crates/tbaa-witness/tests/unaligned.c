// An int where C does not allow one, as x86 does: its bytes are parts of two granules.
#include <stdlib.h>

#define FAR __attribute__((noinline)) static

FAR void put(void *at) {
  *(int *)at = 99; // first
}
FAR float get(void *at) {
  return *(float *)at; // second
}
// Sites of their own, so that the numbers of cells are some of which two halves make a class.
FAR void fill(int *at) {
  at[0] = 1;
  at[1] = 2;
  at[2] = 3;
  at[3] = 4;
  at[4] = 5;
  at[5] = 6;
  at[6] = 7;
  at[7] = 8;
  at[8] = 9;
  at[9] = 10;
  at[10] = 11;
  at[11] = 12;
}

int main(void) {
  char *block = malloc(128);
  put(block + 64);
  fill((int *)block);
  put(block + 18);
  return get(block + 20) > 1;
}
