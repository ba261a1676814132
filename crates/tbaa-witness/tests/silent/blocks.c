/* Code without checks gets a pointer into a block, and writes where the block begins. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
__asm__(".globl outside\noutside: movl $0x40000000, (%rdi)\nret\n");
void outside(long at, void *inside);
static char *pool;
static size_t used;
__attribute__((malloc, alloc_size(1), noinline)) void *take(size_t size) {
  void *block = pool + used;
  used += (size + 15) & -16;
  return block;
}
__attribute__((noinline)) void set(int *p) { *p = 1; }
__attribute__((noinline)) float get(float *p) { return *p; }
static int is_wrong(char *start, char *inside) {
  set((int *)start);
  outside((long)start, inside);
  return get((float *)start) != 2;
}
int main(void) {
  static const size_t sizes[] = {16, 48, 9000, 32, 64, 0};
  int access = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  pool = mmap(NULL, 1 << 16, access, flags, -1, 0);
  for (const size_t *size = sizes; *size; size++) {
    char *block = take(*size);
    if (is_wrong(block, block + *size - 4)) return 1;
  }
  /* Mapped anew, it has no blocks. */
  if (munmap(pool, 1 << 16)) return 2;
  if (mmap(pool, 1 << 16, access, flags | MAP_FIXED, -1, 0) != pool) return 3;
  return is_wrong(pool + 64, pool);
}
