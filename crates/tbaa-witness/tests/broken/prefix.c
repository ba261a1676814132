/* Objects that begin with the same member, read as the one and the other. */
#include <stdlib.h>
struct object { int mark; };
struct string { int mark; int length; };
__attribute__((noinline)) static int collect(struct object *object, struct string *string) {
  object->mark = 0;
  string->mark = 1; // first
  return object->mark; // second
}
int main(void) {
  void *volatile p = malloc(8);
  return collect(p, p) != 1;
}
