/* Bit-fields in memory that another access takes for a number: clang gives them no tags, so that LLVM keeps the order. */
#include <stdlib.h>
struct flags { unsigned low : 8, high : 24; };
__attribute__((noinline)) static int mark(struct flags *flags, int *number) {
  *number = 1;
  flags->low = 2;
  int before = *number;
  *number = 3;
  return before * 10 + flags->low;
}
int main(void) {
  void *volatile p = malloc(4);
  return mark(p, p) != 23;
}
