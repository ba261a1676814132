// Title: a message that is sent as words
// Asked: I fill a `struct Msg` and send it as `unsigned` words. Why are old words sent?
// Source: https://stackoverflow.com/questions/98650
// Answer: `float` members are read as `int`. Copy with memcpy, or read bytes.
// $ tbaa run FILE
// says: of "Msg"
// exit: 66
#include <stdio.h>
#include <stdlib.h>
struct Msg { float a, b; };
static void send(unsigned w) { printf("%u\n", w); }
int main(void) {
  unsigned *buf = malloc(sizeof(struct Msg));
  struct Msg *m = (struct Msg *)buf;
  m->a = 1; m->b = 2;
  send(buf[0]); send(buf[1]);
}
