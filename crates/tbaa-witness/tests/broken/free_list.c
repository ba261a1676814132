/* A list of free blocks in their own memory: a block's size is read where the link was written. */
#include <stdlib.h>
struct block { size_t size; char data[24]; };
struct link { struct link *next; };
static struct link *head;
__attribute__((noinline)) static size_t give_back(struct block *block, struct link *link) {
  block->size = 24;
  link->next = head; // first
  head = link;
  return block->size; // second
}
int main(void) {
  void *volatile p = malloc(sizeof(struct block));
  return give_back(p, p) != 0;
}
