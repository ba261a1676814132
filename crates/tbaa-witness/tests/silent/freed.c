/* Blocks that were written whole and given back take no memory for their cells, whether they were freed, or moved
   as they grew. */
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 4, SIZE = 40 << 20, MOST = SIZE };

static int *written(int *block) {
  for (size_t at = 0; at < SIZE / sizeof(int); at += 1 << 10) block[at] = 1;
  return block;
}

int main(void) {
  int *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) blocks[i] = written(malloc(SIZE));
  for (int i = 0; i < COUNT; i++) free(i % 2 ? blocks[i] : realloc(blocks[i], 8 * (size_t)SIZE));
  /* Pages of the program in memory. */
  FILE *file = fopen("/proc/self/statm", "r");
  long all, resident;
  if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) return 2;
  fclose(file);
  return resident * 4096 > MOST;
}
