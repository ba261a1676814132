/* A process that has forked writes an int, and reads it as a float. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void as_int(int *p) {
  *p = 5; // first
}
__attribute__((noinline)) float as_float(float *p) {
  return *p; // second
}
float sink;
int main(void) {
  int *p = malloc(24);
  if (fork() == 0) _exit(0);
  as_int(p);
  sink = as_float((float *)p);
  wait(0);
  free(p);
  return 0;
}
