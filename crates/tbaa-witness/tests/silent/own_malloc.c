// A program with its own allocator, which is checked as well, and which this library must
// not depend on; its free blocks are a list of the allocator's own type.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct block {
  size_t size;
  struct block *next;
};

static _Alignas(16) unsigned char heap[8 << 20];
static size_t used;
static struct block *free_blocks;

void *malloc(size_t size) {
  size = (size + 15) & ~(size_t)15;
  for (struct block **at = &free_blocks; *at; at = &(*at)->next)
    if ((*at)->size >= size) {
      struct block *found = *at;
      *at = found->next;
      return (unsigned char *)found + 16;
    }
  struct block *block = (struct block *)(heap + used);
  used += size + 16;
  if (used > sizeof heap)
    return NULL;
  block->size = size;
  return (unsigned char *)block + 16;
}

void free(void *memory) {
  if (!memory)
    return;
  struct block *block = (struct block *)((unsigned char *)memory - 16);
  block->next = free_blocks;
  free_blocks = block;
}

void *calloc(size_t count, size_t size) {
  void *memory = malloc(count * size);
  return memory ? memset(memory, 0, count * size) : NULL;
}

void *realloc(void *memory, size_t size) {
  if (!memory)
    return malloc(size);
  struct block *block = (struct block *)((unsigned char *)memory - 16);
  if (block->size >= size)
    return memory;
  void *bigger = malloc(size);
  if (bigger)
    memcpy(bigger, memory, block->size), free(memory);
  return bigger;
}

static volatile double sum;

int main(void) {
  void *memory[64] = {0};
  for (int round = 0; round < 2000; round++) {
    int at = round * 37 % 64;
    free(memory[at]);
    memory[at] = malloc(16 + round % 5 * 16);
    if (round % 2) {
      double *values = memory[at] = realloc(memory[at], 160);
      for (int i = 0; i < 20; i++)
        values[i] = i;
      sum += values[7];
    } else {
      int *values = memory[at];
      for (int i = 0; i < 4; i++)
        values[i] = i;
      sum += values[3];
    }
  }
  printf("%g\n", sum);
  return 0;
}
