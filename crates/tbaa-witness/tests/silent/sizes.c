// Functions that are known to write objects of a fixed size: all bytes that they write
// had another type before.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static volatile int ignored;

// Memory that was something else before.
__attribute__((noinline)) static void *used(void) {
  long *block = malloc(512);
  for (int i = 0; i < 64; i++)
    block[i] = 0;
  return block;
}

// Reads an object that a function has written.
__attribute__((noinline)) static void all(void *object, int size) {
  short *words = object, sum = 0;
  for (int i = 0; i < size / 2; i++)
    sum ^= words[i];
  ignored = sum;
  free(object);
}

// The same for a type that is accessed whole.
#define ONE(TYPE, CALL) { __typeof__(TYPE) *to = used(); CALL; ignored = *to != 0; free(to); }
#define ALL(TYPE, CALL) { __typeof__(TYPE) *to = used(); CALL; all(to, sizeof *to); }

int main(void) {
  struct tm tm = {.tm_mday = 3, .tm_year = 120};
  time_t now = 0;
  struct timespec short_time = {0, 1};
  mbstate_t state = {0};
  ALL(struct tm, (memcpy(to, &tm, sizeof tm), ignored = (int)mktime(to)))
  ALL(struct tm, (memcpy(to, &tm, sizeof tm), ignored = (int)timegm(to)))
  ALL(char[26], ctime_r(&now, *to))
  ALL(char[26], asctime_r(&tm, *to))
  ALL(struct timespec, clock_getres(CLOCK_MONOTONIC, to))
  ALL(struct timespec, nanosleep(&short_time, to))
  ALL(struct timespec, clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, to))
  FILE *file = tmpfile();
  // The lock is of the other process.
  ignored = fcntl(fileno(file), F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_len = 8});
  int (*volatile fcntl_by)(int, int, ...) = fcntl;
  for (int i = 0; i < 2; i++) {
    pid_t asks = fork();
    if (asks == 0) {
      struct flock *to = used();
      memset(to, 0, sizeof *to);
      to->l_type = F_WRLCK;
      ignored = i == 0 ? fcntl(fileno(file), F_GETLK, to) : fcntl_by(fileno(file), F_GETLK, to);
      all(to, sizeof *to);
      exit(0);
    }
    waitpid(asks, NULL, 0);
  }
  ALL(fpos_t, fgetpos(file, to))
  ONE(int, frexp(8.0, to))
  ONE(int, frexpf(8.0f, to))
  ONE(int, frexpl(8.0, to))
  ONE(double, modf(8.5, to))
  ONE(float, modff(8.5f, to))
  ONE(long double, modfl(8.5, to))
  ONE(int, remquo(8.5, 2, to))
  ONE(int, lgamma_r(8.5, to))
  ONE(double, { double *other = used(); sincos(0.5, to, other); ignored = *other > 0; })
  ONE(float, { float *other = used(); sincosf(0.5f, to, other); ignored = *other > 0; })
  ONE(long double, { long double *other = used(); sincosl(0.5, to, other); ignored = *other > 0; })
  ALL(struct stat, stat("/", to))
  ALL(struct stat64, stat64("/", to))
  ALL(struct stat64, lstat64("/", to))
  ALL(struct stat64, fstat64(0, to))
  ALL(struct stat, fstatat(-1, "/", to, 0))
  ALL(struct stat64, fstatat64(-1, "/", to, 0))
  ALL(struct statfs, statfs("/", to))
  ALL(struct statfs, fstatfs(fileno(file), to))
  ALL(struct statvfs, statvfs("/", to))
  ALL(struct statvfs, fstatvfs(fileno(file), to))
  ALL(struct itimerval, getitimer(ITIMER_REAL, to))
  struct itimerval none = {{0}};
  ALL(struct itimerval, setitimer(ITIMER_REAL, &none, to))
  ALL(struct rlimit, getrlimit(RLIMIT_CORE, to))
  ALL(struct rusage, getrusage(RUSAGE_SELF, to))
  ALL(struct sysinfo, sysinfo(to))
  ALL(struct utsname, uname(to))
  ALL(struct tms, times(to))
  ALL(struct termios, (memset(to, 0, sizeof *to), tcgetattr(0, to)))
  ALL(struct in_addr, inet_aton("127.0.0.1", to))
  ALL(struct in6_addr, inet_pton(AF_INET6, "::1", to))
  ONE(char *, strtol("12", to, 10))
  ONE(char *, strtoll("12", to, 10))
  ONE(char *, strtoul("12", to, 10))
  ONE(char *, strtoull("12", to, 10))
  ONE(char *, strtod("12", to))
  ONE(char *, strtof("12", to))
  ONE(char *, strtold("12", to))
  ONE(wchar_t *, wcstol(L"12", to, 10))
  ONE(wchar_t *, wcstoul(L"12", to, 10))
  ONE(wchar_t *, wcstod(L"12", to))
  ONE(wchar_t, mbtowc(to, "a", 1))
  ONE(wchar_t, mbrtowc(to, "a", 1, &state))
  ALL(mbstate_t, (memset(to, 0, sizeof *to), mbrlen("a", 1, to)))
  ALL(mbstate_t, (memset(to, 0, sizeof *to), mbrtowc(NULL, "a", 1, to)))
  ALL(char[4], wctomb(*to, L'a'))
  ALL(char[4], wcrtomb(*to, L'a', &state))
  ALL(int[2], pipe(*to))
  ALL(int[2], pipe2(*to, 0))
  ALL(int[2], socketpair(AF_UNIX, SOCK_STREAM, 0, *to))
  ALL(jmp_buf, ignored = setjmp(*to))
  ALL(sigjmp_buf, ignored = sigsetjmp(*to, 1))
  ALL(sigset_t, sigemptyset(to))
  ALL(sigset_t, sigfillset(to))
  ALL(sigset_t, (sigemptyset(to), sigaddset(to, SIGUSR1)))
  ALL(sigset_t, (sigemptyset(to), sigdelset(to, SIGUSR1)))
  ALL(sigset_t, sigpending(to))
  ALL(sigset_t, sigprocmask(SIG_BLOCK, NULL, to))
  ALL(sigset_t, pthread_sigmask(SIG_BLOCK, NULL, to))
  ALL(struct sigaction, sigaction(SIGUSR1, NULL, to))
  ALL(stack_t, sigaltstack(NULL, to))
  ALL(fd_set, (memset(to, 0, sizeof *to), select(0, to, NULL, NULL, &(struct timeval){0, 0})))
  ALL(pthread_key_t, pthread_key_create(to, NULL))
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ALL(size_t, pthread_attr_getstacksize(&attributes, to))
  sem_t semaphore;
  sem_init(&semaphore, 0, 3);
  ONE(int, sem_getvalue(&semaphore, to))
  if (fork() == 0)
    _exit(3);
  ONE(int, wait(to))
  pid_t child = fork();
  if (child == 0)
    _exit(3);
  ONE(int, waitpid(child, to, 0))
  return 0;
}
