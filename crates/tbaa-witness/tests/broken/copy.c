/* A number is written as what it is, and taken out by a copy of its words. */
#include <stdlib.h>
#include <string.h>
struct words { long whole, real; };
__attribute__((noinline)) static struct words move(double *number, struct words *words) {
  struct words copy;
  *number = 1; // first
  copy = *words; // second
  memset(number, 0, sizeof *number);
  return copy;
}
int main(void) {
  double *volatile number = calloc(2, 8);
  return move(number + 1, (void *)number).real != 0x3ff0000000000000;
}
