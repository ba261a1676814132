/* A program with a function of the C library's of its own, which counts its calls. It says how many there were. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int calls;
static long kernel(long number, long a, long b, long c) {
  long result;
  calls++;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result < 0 ? -1 : result;
}

#if memcpy_
void *memcpy(void *to, const void *from, size_t size) {
  char *a = to;
  const char *b = from;
  for (calls++; size > 0; size--) *a++ = *b++;
  return to;
}
#elif memmove_
void *memmove(void *to, const void *from, size_t size) {
  char *a = to;
  const char *b = from;
  calls++;
  if (a < b) for (size_t at = 0; at < size; at++) a[at] = b[at];
  else while (size-- > 0) a[size] = b[size];
  return to;
}
#elif memset_
void *memset(void *to, int byte, size_t size) {
  char *a = to;
  for (calls++; size > 0; size--) *a++ = byte;
  return to;
}
#elif memcmp_
int memcmp(const void *one, const void *other, size_t size) {
  const unsigned char *a = one, *b = other;
  for (calls++; size > 0; size--, a++, b++) if (*a != *b) return *a - *b;
  return 0;
}
#elif bcmp_
int bcmp(const void *one, const void *other, size_t size) {
  const char *a = one, *b = other;
  for (calls++; size > 0; size--) if (*a++ != *b++) return 1;
  return 0;
}
#elif strlen_
size_t strlen(const char *text) {
  size_t at = 0;
  for (calls++; text[at]; at++) ;
  return at;
}
#elif strnlen_
size_t strnlen(const char *text, size_t most) {
  size_t at = 0;
  for (calls++; at < most && text[at]; at++) ;
  return at;
}
#elif getenv_
extern char **environ;
char *getenv(const char *name) {
  size_t size = 0;
  for (calls++; name[size]; size++) ;
  for (char **at = environ; *at; at++) if (!strncmp(*at, name, size) && (*at)[size] == '=') return *at + size + 1;
  return NULL;
}
#elif read_
ssize_t read(int file, void *to, size_t size) { return kernel(SYS_read, file, (long)to, size); }
#elif write_
ssize_t write(int file, const void *from, size_t size) { return kernel(SYS_write, file, (long)from, size); }
#elif writev_
ssize_t writev(int file, const struct iovec *from, int count) { return kernel(SYS_writev, file, (long)from, count); }
#elif open64_
int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = va_arg(rest, int);
  va_end(rest);
  return kernel(SYS_open, (long)path, flags, mode);
}
#elif close_
int close(int file) { return kernel(SYS_close, file, 0, 0); }
#elif lseek64_
off64_t lseek64(int file, off64_t at, int from) { return kernel(SYS_lseek, file, at, from); }
#elif stat64_
int stat64(const char *path, struct stat64 *to) { return kernel(SYS_stat, (long)path, (long)to, 0); }
#elif fstat64_
int fstat64(int file, struct stat64 *to) { return kernel(SYS_fstat, file, (long)to, 0); }
#elif poll_
int poll(struct pollfd *files, nfds_t count, int timeout) { return kernel(SYS_poll, (long)files, count, timeout); }
#elif getpid_
pid_t getpid(void) { return kernel(SYS_getpid, 0, 0, 0); }
#elif sched_yield_
int sched_yield(void) { return kernel(SYS_sched_yield, 0, 0, 0); }
#elif syscall_
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
  va_end(rest);
  return kernel(number, a, b, c);
}
#elif qsort_
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  int *at = base;
  for (size_t i = 0; calls++, i < count; i++)
    for (size_t j = i; j > 0 && compare(at + j - 1, at + j) > 0; j--) {
      int other = at[j];
      at[j] = at[j - 1];
      at[j - 1] = other;
    }
}
#elif malloc_
static _Alignas(16) char heap[1 << 20];
void *malloc(size_t size) {
  static size_t used;
  char *block = heap + used;
  calls++;
  return (used += (size + 15) & -16ul) > sizeof heap ? NULL : block;
}
void free(void *block) { calls++; }
#endif

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
struct pair { int number; float part; };
static volatile size_t many = 4;
__attribute__((noinline)) static int as_int(int *p) { return *p; }

int main(int count, char **arguments) {
  int x = 0, list[] = {3, 1, 2, 5};
  struct pair *pair = malloc(sizeof *pair * many), other[4];
  for (int i = 0; i < 4; i++) pair[i].number = list[i], pair[i].part = i;
  memcpy(&x, list + 3, many);
  memmove(other + 1, pair, sizeof *pair * (many - 1));
  memset(pair + 1, 0, sizeof *pair * (many - 1));
  qsort(list, many, sizeof *list, compare);
  x += memcmp(other + 1, pair, sizeof *pair) != 0;
#if !memcmp_ // The static C library has both in one file.
  x += bcmp(list, list + 1, many) != 0;
#endif
  x += strlen(arguments[0]) == 0;
  x += strnlen(arguments[0], many) == 0;
  x += getenv("HOME") == NULL;
  struct stat64 status;
  struct pollfd files = {.fd = 1};
  char name[4];
  int file = open64("/dev/zero", O_RDONLY);
  x += file < 0 || read(file, name, many) != 4 || lseek64(file, 0, SEEK_SET) != 0 || fstat64(file, &status) || close(file);
  x += stat64("/", &status) || poll(&files, 0, 0) || getpid() != syscall(SYS_getpid);
  struct iovec nothing = {name, 0};
  x += writev(1, &nothing, 1) != 0 || write(1, name, 0) != 0;
  for (int i = 0; i < 4; i++) x += list[i] + (other[1].number != 3 && pair[i].part > 0);
  if (count > 1) {
    pair->part = 2;
    x += as_int((int *)&pair->part) == 0;
  }
  int made = calls;
  printf("%d %d\n", x, made);
  return 0;
}
