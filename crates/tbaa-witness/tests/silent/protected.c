// Memory that checked code has used, and that nobody can read any more, behind a pointer that a
// function gets which is not checked.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct holder {
  long *hidden, *gone;
};

static void (*volatile swab_by)(const void *, void *, ssize_t) = swab;

static long *pages(void) {
  long *found = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 1024; i++)
    found[i] = (long)found;
  return found;
}

int main(void) {
  struct holder *holder = malloc(sizeof *holder);
  holder->hidden = pages();
  holder->gone = pages();
  mprotect(holder->hidden, 8192, PROT_NONE);
  syscall(SYS_munmap, holder->gone, 8192);
  char *text = (char *)(holder + 0);
  swab_by("badcfehg", text, 0);
  return 0;
}
