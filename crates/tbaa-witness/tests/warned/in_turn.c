/* Two members of a record are written in turn, of which the last stays. */
#include <stdlib.h>
struct question { long id; };
struct answer { double time; };
__attribute__((noinline)) static void serve(void *a, void *b, int n) {
  struct question *q = a;
  struct answer *r = b;
  for (int i = 0; i < n; i++) {
    q->id = i; // first
    r->time = 1.5; // second
  }
}
int main(void) {
  void *p = malloc(16);
  serve(p, p, 1);
  free(p);
  return 0;
}
