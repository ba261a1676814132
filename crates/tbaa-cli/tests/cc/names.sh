# Structs without a name go by their typedefs, which differ in a pointer alone.
. "$HERE/common"
cat > names.c <<'C'
#include <stdlib.h>
typedef struct { long size; void **items; void *first; } list;
typedef struct { long size; void **items; struct node *first; } nodes;
typedef struct { long size; void **items; struct edge *first; } edges;
__attribute__((noinline)) void set(nodes *p) { p->size = 1; }
__attribute__((noinline)) long get(edges *p) { return p->size; }
__attribute__((noinline)) long other(list *p) { return p->size; }
int main(void) {
  void *p = malloc(sizeof(list));
  set(p);
  return get(p) + other(p) == 0;
}
C
quiet $cc -O1 -g names.c -o names
ends 66 ./names
says '^  write  8 bytes as "long" at 0 of "nodes"$'
says '^  read   8 bytes as "long" at 0 of "edges"$'
# Older versions of clang call all pointers so.
says '^  read   8 bytes as "long" at 0 of "{edges|list|nodes}"$'
