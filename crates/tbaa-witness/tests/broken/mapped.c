/* The header of a mapped file. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
struct header { uint32_t magic, pages; };
__attribute__((noinline)) static uint32_t open_file(struct header *header, uint64_t *word) {
  header->pages = 1;
  *word = 0; // first
  return header->pages; // second
}
int main(void) {
  FILE *file = tmpfile();
  if (!file || ftruncate(fileno(file), 4096)) return 2;
  void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  void *volatile same = p;
  return open_file(p, same) != 0;
}
