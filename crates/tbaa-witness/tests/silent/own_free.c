/* A program's own `malloc` and `free`, which keep their list in the blocks themselves. */
#include <stddef.h>

struct block {
  struct block *next;
  char rest[(64 << 10) - sizeof(void *)];
};
static struct block heap[128], *list;
static size_t used;

void *malloc(size_t size) {
  struct block *found = list;
  if (size > sizeof *found) return NULL;
  if (found) list = found->next;
  else if (used < 128) found = &heap[used++];
  return found;
}

void free(void *p) {
  struct block *block = p;
  if (!block) return;
  block->next = list;
  list = block;
}

struct pair {
  float a, b;
};
struct pair kept;
__attribute__((noinline)) void set(struct pair *p, float a) { p->a = a; }
/* It also reads what nobody has written. */
__attribute__((noinline)) float keep(struct pair *p) {
  kept = *p;
  return p->a;
}
static struct pair *volatile shared;
int main(void) {
  for (int i = 0; i < 3; i++) {
    shared = malloc(sizeof *shared);
    set(shared, i);
    if (keep(shared) != i) return 1;
    free(shared);
  }
  return 0;
}
