// Functions that write their own object alone: what lies behind a pointer beside it is
// remembered.
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

struct all {
  int *behind;
  struct flock lock;
  jmp_buf frame;
  fpos_t position;
  struct stat64 about;
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
static int (*volatile fcntl_by)(int, int, ...) = fcntl;
// The C library has these by other names too, or by none.
static size_t (*volatile strlen_by)(const char *) = strlen;
static int (*volatile fsetpos_by)(FILE *, const fpos_t *) = fsetpos;
static int (*volatile stat_by)(const char *, struct stat64 *) = stat64;

int main(void) {
  struct all *all = calloc(1, sizeof *all);
  all->behind = malloc(64);
  all->name[0] = 'a';
  *all->behind = 1; // first
  ignored = (long)malloc_usable_size(all->behind);
  ignored = fcntl(0, F_GETLK, &all->lock);
  ignored = fcntl_by(0, F_GETLK, &all->lock);
  ignored = fgetpos(stdin, &all->position);
  ignored = fsetpos_by(stdin, &all->position);
  ignored = (long)strlen_by(all->name);
  ignored = stat_by("/", &all->about);
  ignored = setjmp(all->frame);
  ignored = mktime(&all->time);
  ignored = pipe(all->ends);
  ignored = (long)mbrtowc(&all->wide, all->name, 1, &all->state);
  ignored = (long)wctype(all->name);
  ignored = (long)as_float(all->behind);
  return 0;
}
