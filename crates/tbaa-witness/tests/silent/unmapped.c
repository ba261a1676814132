/* What was unmapped may be mapped again by a call that nobody sees. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) void set(int *p) { *p = 1; }
__attribute__((noinline)) float get(float *p) { return *p; }
int main(void) {
  int access = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void *p = mmap(NULL, 4096, access, flags, -1, 0);
  set(p);
  if (munmap(p, 4096)) return 1;
  if (syscall(SYS_mmap, (long)p, 4096, access, flags | MAP_FIXED, -1, 0) != (long)p) return 2;
  return get(p) != 0;
}
