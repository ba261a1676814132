// Functions that write their own object alone: what lies behind a pointer beside it is
// remembered.
#include <setjmp.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

struct all {
  int *behind;
  jmp_buf frame;
  struct tm time;
  int ends[2];
  wchar_t wide;
  mbstate_t state;
  char name[8];
};

__attribute__((noinline)) float as_float(void *from) {
  return *(float *)from; // second
}

static volatile long ignored;

int main(void) {
  struct all *all = calloc(1, sizeof *all);
  all->behind = malloc(64);
  all->name[0] = 'a';
  *all->behind = 1; // first
  ignored = setjmp(all->frame);
  ignored = mktime(&all->time);
  ignored = pipe(all->ends);
  ignored = (long)mbrtowc(&all->wide, all->name, 1, &all->state);
  ignored = (long)wctype(all->name);
  ignored = (long)as_float(all->behind);
  return 0;
}
