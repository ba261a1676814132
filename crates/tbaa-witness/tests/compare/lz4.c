/* 4 MB that repeat themselves a little and from afar, compressed and expanded: LEVEL ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lz4.h"
#include "lz4hc.h"

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int level = atoi(argv[1]), rounds = atoi(argv[2]), size = 4000000, length = 0;
  int bound = LZ4_compressBound(size);
  char *in = malloc(size), *packed = malloc(bound), *out = malloc(size);
  unsigned long random = 12345;
  for (long i = 0; i < size; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    in[i] = i > 100 && random >> 60 < 13 ? in[i - 1 - (random >> 40) % 90] : random >> 57;
    long far = 20 + (random >> 30) % 60;
    if (i > 70000 && (random >> 20) % 97 == 0 && i + far < size) {
      memcpy(in + i, in + i - 60000 - (random >> 33) % 5000, far);
      i += far - 1;
    }
  }
  for (int round = 0; round < rounds; round++) {
    length = level < 3 ? LZ4_compress_default(in, packed, size, bound)
                       : LZ4_compress_HC(in, packed, size, bound, level);
    if (length <= 0 || LZ4_decompress_safe(packed, out, length, size) != size) return 1;
  }
  printf("%d %d\n", level, length);
  return memcmp(in, out, size) != 0;
}
