/* One thread writes an int, and another reads it as a float. */
#include <pthread.h>
static int shared;
float sink;
void *set(void *p) {
  *(int *)p = 7; // first
  return 0;
}
__attribute__((noinline)) float get(float *p) {
  return *p; // second
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, set, &shared);
  pthread_join(thread, 0);
  sink = get((float *)&shared);
  return 0;
}
