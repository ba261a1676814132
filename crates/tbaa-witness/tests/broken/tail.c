/* What follows a message, of as many numbers as it says. */
#include <stdlib.h>
struct shorts { int count; short tail[]; };
struct floats { int count; float tail[]; };
__attribute__((noinline)) static int turn(struct shorts *from, struct floats *to) {
  from->tail[1] = 1;
  to->tail[0] = 0; // first
  return from->tail[1]; // second
}
int main(void) {
  void *volatile p = calloc(1, 64);
  return turn(p, p) != 0;
}
