/* 8 MiB that repeat themselves a little, compressed and uncompressed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "zlib.h"

int main(void) {
  unsigned long size = 8ul << 20, bound = compressBound(size), back = size, random = 12345;
  unsigned char *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
  for (unsigned long i = 0; i < size; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    in[i] = i > 100 && random >> 60 < 11 ? in[i - 1 - (random >> 40) % 90] : random >> 57;
  }
  if (compress2(packed, &bound, in, size, 6) != Z_OK || uncompress(out, &back, packed, bound) != Z_OK)
    return 1;
  printf("%lu %lu\n", bound, crc32(0, out, back));
  return memcmp(in, out, size) != 0;
}
