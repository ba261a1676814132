/* Memory of two processes: each value is read by the type it was last written with. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void set_int(int *p) { *p = 1; }
__attribute__((noinline)) void set_float(float *p) { *p = 2; }
__attribute__((noinline)) float get(float *p) { return *p; }
int main(void) {
  int access = PROT_READ | PROT_WRITE, status = 1;
  void *p = mmap(NULL, 4096, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  set_int(p);
  pid_t child = fork();
  if (child == 0) {
    set_float(p);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status) return 1;
  return get(p) != 2;
}
