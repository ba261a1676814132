/* A child goes on with what is known of its memory, and makes it its own. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int *p = malloc(64);
  *p = 1;
  pid_t child = fork();
  if (child == 0) {
    free(p);
    float *q = malloc(64);
    *q = 2;
    exit(*q != 2);
  }
  int status = 1;
  waitpid(child, &status, 0);
  *p += status;
  return *p != 1;
}
