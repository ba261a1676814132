/* One thread allocates, and another frees, in turn: ROUNDS. */
#include <mimalloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20000 };
static unsigned *blocks[COUNT];
static unsigned long sum;

static void *release(void *unused) {
  for (int i = 0; i < COUNT; i++) {
    if (i % 3 == 0) continue;
    sum += *blocks[i];
    mi_free(blocks[i]);
  }
  return unused;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int round = 0; round < rounds; round++) {
    pthread_t thread;
    for (int i = 0; i < COUNT; i++) {
      blocks[i] = mi_malloc(16 + i % 100);
      *blocks[i] = i;
    }
    pthread_create(&thread, NULL, release, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < COUNT; i += 3) mi_free(blocks[i]);
  }
  printf("%lu\n", sum);
  return 0;
}
