/* 2 MiB that repeat themselves a little, compressed and uncompressed at four levels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zstd.h"

int main(void) {
  size_t size = 2ul << 20, bound = ZSTD_compressBound(size), random = 12345;
  unsigned char *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
  for (size_t i = 0; i < size; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    in[i] = i > 100 && random >> 60 < 11 ? in[i - 1 - (random >> 40) % 90] : random >> 57;
  }
  for (const int levels[] = {1, 3, 9, 16}, *level = levels; level < levels + 4; level++) {
    size_t length = ZSTD_compress(packed, bound, in, size, *level);
    printf("%d %zu\n", *level, length);
    if (ZSTD_decompress(out, size, packed, length) != size || memcmp(in, out, size) != 0)
      return 1;
  }
  return 0;
}
