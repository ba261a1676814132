/* What was written before a jump, read after it. */
#include <setjmp.h>
#include <stdlib.h>
static jmp_buf place;
__attribute__((noinline)) static void leave(void) { longjmp(place, 1); }
__attribute__((noinline)) static int attempt(int *status, float *error) {
  *status = 1;
  *error = 0; // first
  int seen = *status; // second
  if (!setjmp(place)) leave();
  return seen;
}
int main(void) {
  void *volatile p = malloc(4);
  return attempt(p, p) != 0;
}
