// Inline assembly that says that it may access any memory: LLVM moves no read past it.
#include <stdlib.h>

__attribute__((noinline)) static int retyped(void *memory) {
  *(float *)memory = 1.0f;
  asm volatile("" ::"r"(memory) : "memory");
  int seen = *(int *)memory;
  asm volatile("" ::: "memory");
  *(float *)memory = 2.0f;
  return seen;
}

int main(void) {
  return retyped(malloc(16)) == 0x3f800000 ? 0 : 1;
}
