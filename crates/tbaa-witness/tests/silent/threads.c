/* Neighbouring bytes by several threads, and stacks that threads leave. */
#include <pthread.h>
#include <stdint.h>
static struct { _Alignas(8) short s[2]; int i; char c[4]; float f; } shared[64];
static _Thread_local union { int dummy; } own;
static void *shorts(void *x) {
  int local[64];
  for (int n = 0; n < 20000; n++) {
    shared[n % 64].s[(intptr_t)x] += n;
    local[n % 64] = n;
    own.dummy = local[n % 64];
  }
  return 0;
}
static void *others(void *x) {
  float local[64];
  for (int n = 0; n < 20000; n++) {
    if (x) shared[n % 64].i += n; else shared[n % 64].f += n;
    local[n % 64] = n;
    shared[n % 64].c[x != 0] = local[n % 64] > 0;
  }
  return 0;
}
int main(void) {
  for (int round = 0; round < 20; round++) {
    pthread_t t[4];
    pthread_create(&t[0], 0, shorts, 0);
    pthread_create(&t[1], 0, shorts, (void *)1);
    pthread_create(&t[2], 0, others, 0);
    pthread_create(&t[3], 0, others, (void *)1);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  }
  return 0;
}
