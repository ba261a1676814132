/* A thread's job and its result share memory. */
#include <pthread.h>
#include <stdlib.h>
struct job { int input; };
struct result { float output; };
__attribute__((noinline)) static int work(struct job *job, struct result *result) {
  job->input = 1;
  result->output = 0; // first
  return job->input; // second
}
static void *run(void *p) { return (void *)(long)work(p, p); }
int main(void) {
  pthread_t thread;
  void *left;
  pthread_create(&thread, 0, run, malloc(4));
  pthread_join(thread, &left);
  return left != 0;
}
