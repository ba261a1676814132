/* Variables of a thread, whose addresses the processor computes from a segment. */
#include <pthread.h>
#include <stdio.h>

static _Thread_local struct {
  int count;
  short part;
  double sum;
  void *last;
} own;

static void add(int *count, double *sum) {
  *count += 1;
  *sum += *count;
}

static void *run(void *unused) {
  for (int i = 0; i < 100; i++) {
    add(&own.count, &own.sum);
    own.part++;
    own.last = &own;
  }
  return own.last;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  pthread_join(thread, NULL);
  printf("%d %d %g\n", own.count, own.part, own.sum);
}
