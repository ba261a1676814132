/* A sort of lists of any type, by a pointer to the link. */
#include <stddef.h>
#include <stdlib.h>
struct action { int kind; struct action *next; };
__attribute__((noinline)) static struct action *push(struct action *all, struct action *one, size_t link) {
  one->next = 0;
  *(char **)((char *)one + link) = (char *)all; // first
  return one->next; // second
}
int main(void) {
  volatile size_t link = offsetof(struct action, next);
  struct action *volatile all = malloc(sizeof *all), *volatile one = malloc(sizeof *one);
  return push(all, one, link) != all;
}
