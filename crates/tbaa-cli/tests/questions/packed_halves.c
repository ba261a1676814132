// Title: 16 bits of each word are moved together
// Asked: An array of `uint64_t` is packed in place through `uint16_t *`. Why does clang print old words?
// Source: https://github.com/llvm/llvm-project/issues/47137
// Answer: `unsigned long` is read as `unsigned short`. Use memcpy, or shift.
// $ tbaa run FILE
// says: as "long"
// says: as "short"
// exit: 66
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static void pack(uint64_t *words, int n) {
  for (int i = 0, j = 0; i < 4 * n; i += 4, j += 3)
    for (int k = 0; k < 3; k++) ((uint16_t *)words)[j + k] = ((uint16_t *)words)[i + k];
}
int main(int argc, char **argv) {
  int n = argc + 5;
  uint64_t *words = malloc(n * sizeof *words);
  for (int i = 0; i < n; i++) words[i] = 0x123456789abcu * (i + argc);
  pack(words, n);
  printf("%llx\n", (unsigned long long)words[0]);
  free(words);
}
