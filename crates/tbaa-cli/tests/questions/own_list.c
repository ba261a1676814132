// Title: lists of other structs through one kind of pointer
// $ tbaa run FILE
// says: as "Foo *"
// says: as "Bar *"
// exit: 66
#include <stdio.h>
struct Bar { int kind; };
struct Foo { int kind; double d; };
static int first(struct Bar **list) { return list[0]->kind; }
int main(void) {
  struct Foo foo = {7, 0.5};
  struct Foo *list[2] = {&foo, 0};
  struct Bar **volatile as_bars = (struct Bar **)list;
  printf("%d\n", first(as_bars));
}
