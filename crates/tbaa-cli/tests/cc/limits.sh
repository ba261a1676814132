# A limit that the program sets for itself leaves it as much memory as without checks, and it gets its own values back.
. "$HERE/common"
cat > limits.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#ifndef LIMIT
#define LIMIT RLIMIT_AS
#endif
static void ask(int which) {
  struct rlimit limit = {0, 0};
  int status = which ? prlimit(0, LIMIT, NULL, &limit) : getrlimit(LIMIT, &limit);
  printf(" %d %ld %ld", status, limit.rlim_cur, limit.rlim_max);
}
int main(void) {
  struct rlimit limit = {1ul << 28, 1ul << 30}, old = {1, 1};
  ask(0);
  printf(" %d", prlimit(0, LIMIT, &limit, &old));
  printf(" %ld %ld", old.rlim_cur, old.rlim_max);
  ask(1);
  int *block = malloc(1 << 20), *volatile large = malloc(1u << 29);
  printf(" %d %d", block != NULL, large != NULL);
  limit.rlim_cur = limit.rlim_max;
  printf(" %d", setrlimit(LIMIT, &limit));
  large = malloc(1u << 29);
  printf(" %d", large != NULL);
  limit.rlim_max = 1ul << 20;
  printf(" %d", setrlimit(LIMIT, &limit) != 0);
  ask(0);
  limit.rlim_cur = 100;
  printf(" %d", setrlimit(RLIMIT_NOFILE, &limit));
  getrlimit(RLIMIT_NOFILE, &limit);
  printf(" %ld", limit.rlim_cur);
  // Checks after the limit is set need memory of the library's.
  float *wrong = (float *)block;
  for (int i = 0; i < 1000; i++) block[i] = i;
#ifdef WRONG
  printf(" %g", wrong[5]);
#endif
  puts("");
}
END
for way in "" -static "-DLIMIT=RLIMIT_DATA" "-no-pie"; do
  clang-22 -O1 -w $way limits.c -o plain
  $cc -g -O1 -w $way limits.c -o checked 2> said || { cat said; exit 1; }
  ./plain > expected
  ends 0 ./checked
  cmp said expected || { cat said expected; exit 1; }
  $cc -g -O1 -w $way -DWRONG limits.c -o checked 2> said || { cat said; exit 1; }
  ends 66 ./checked
  says 'contradiction 1: a write, and a later read'
done
