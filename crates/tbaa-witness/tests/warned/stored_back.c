/* A value is stored back over one of another type: LLVM removes the store, for it finds that the value is there. */
#include <stdlib.h>

__attribute__((noinline)) static void scratch(int *number, double *room) {
  int kept = *number;
  *room = 0.0; // first
  *number = kept; // second
}

int main(void) {
  int *number = malloc(sizeof(double));
  *number = 7;
  scratch(number, (double *)number);
  free(number);
  return 0;
}
