// Title: the neighbour: members of the words' own type
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
#include <stdlib.h>
struct Msg { unsigned a, b; };
static void send(unsigned w) { printf("%u\n", w); }
int main(void) {
  unsigned *buf = malloc(sizeof(struct Msg));
  struct Msg *m = (struct Msg *)buf;
  m->a = 1; m->b = 2;
  send(buf[0]); send(buf[1]);
}
