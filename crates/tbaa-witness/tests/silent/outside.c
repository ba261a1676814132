// Functions that nobody told the runtime of write memory that had another type before: by a
// pointer, and by pointers that lie behind it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <getopt.h>
#include <iconv.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

enum { BYTES = 512 };

// Memory that was something else before.
__attribute__((noinline)) static void *used(void) {
  float *block = malloc(BYTES);
  for (int i = 0; i < BYTES / 4; i++)
    block[i] = 1.5f;
  return block;
}

static float global[BYTES / 4];

__attribute__((noinline)) static int sum(const int *block, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++)
    sum ^= block[i];
  return sum;
}

__attribute__((noinline)) static long words(const long *block, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++)
    sum ^= block[i];
  return sum;
}

struct holder {
  long before;
  void *inside;
};

static volatile int ignored;
static int (*volatile by_pointer)(int[2]) = pipe;

int main(void) {
  int *block = used();
  ignored = (int)getrandom(block, 64, 0);
  ignored = sum(block, 16);

  for (int i = 0; i < BYTES / 4; i++)
    global[i] = 2.5f;
  ignored = getentropy(global, 64);
  ignored = sum((int *)global, 16);

  block = used();
  ignored = by_pointer(block);
  struct pollfd *poll_of = used();
  poll_of->fd = block[0];
  poll_of->events = POLLIN;
  ignored = poll(poll_of, 1, 0) + poll_of->revents;
  int queue = epoll_create1(0);
  struct epoll_event event = {EPOLLOUT, {0}};
  epoll_ctl(queue, EPOLL_CTL_ADD, block[1], &event);
  struct epoll_event *events = used();
  ignored = epoll_wait(queue, events, 2, 0);
  ignored = (int)events->events;

  int sockets[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
  struct sockaddr_un *name = used();
  socklen_t *length = used();
  *length = sizeof *name;
  getsockname(sockets[0], (struct sockaddr *)name, length);
  ignored = name->sun_family + (int)*length;
  int *option = used();
  *length = sizeof *option;
  getsockopt(sockets[0], SOL_SOCKET, SO_TYPE, option, length);
  ignored = *option;

  // Two pointers away.
  struct iovec *vector = used();
  struct mmsghdr *message = used();
  int *into = used();
  memset(message, 0, sizeof *message);
  vector->iov_base = into;
  vector->iov_len = 16;
  message->msg_hdr.msg_iov = vector;
  message->msg_hdr.msg_iovlen = 1;
  ignored = (int)write(sockets[1], "0123456789abcdef", 16);
  recvmmsg(sockets[0], message, 1, 0, NULL);
  ignored = sum(into, 4) + (int)message->msg_len;

  char *from = "abcd", **ends = used();
  int *wide = used();
  size_t *left = used();
  ends[0] = from, ends[1] = (char *)wide;
  left[0] = 4, left[1] = 64;
  iconv_t converter = iconv_open("UTF-32", "UTF-8");
  iconv(converter, &ends[0], &left[0], &ends[1], &left[1]);
  ignored = sum(wide, 4) + (int)left[1];

  int *text = used();
  sscanf("a long word of more than sixteen bytes", "%s", (char *)text);
  ignored = sum(text, 1);
  text = used();
  wcscpy((wchar_t *)text, L"wide and long");
  ignored = sum(text, 12);
  text = used();
  ignored = (int)mbstowcs((wchar_t *)text, "many bytes", 32);
  ignored = sum(text, 10);
  text = used();
  explicit_bzero(text, 64);
  ignored = sum(text, 16);

  regex_t *pattern = used();
  regmatch_t *match = used();
  regcomp(pattern, "b+", 0);
  ignored = regexec(pattern, "aabb", 1, match, 0) + (int)match->rm_eo;
  struct statx *about = used();
  ignored = statx(AT_FDCWD, "/", 0, STATX_ALL, about) + (int)about->stx_mode;
  struct utsname *host = used();
  ignored = uname(host) + sum((int *)host, 4);
  int *status = used();
  if (fork() == 0)
    _exit(3);
  ignored = (int)wait(status) + *status;
  struct timespec *now = used();
  ignored = (int)syscall(SYS_clock_gettime, 0, now) + (int)words(&now->tv_sec, 2);
  struct sigaction *action = used(), *old = used();
  memset(action, 0, sizeof *action);
  action->sa_handler = SIG_IGN;
  sigaction(SIGUSR1, action, old);
  ignored = sigaction(SIGUSR1, action, old) + old->sa_flags;
  int *exponent = used();
  ignored = (int)frexp(8.0, exponent) + *exponent;
  jmp_buf *frame = used();
  if (setjmp(*frame) == 0)
    ignored = (int)words((long *)frame, 1);

  int *printed = used();
  ignored = printf("%n", printed) + *printed;
  char text_of[8];
  printed = used();
  ignored = snprintf(text_of, 8, "abc%n", printed) + *printed;
  int *state = used();
  ignored = pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, state) + *state;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  state = used();
  ignored = pthread_mutexattr_gettype(&attributes, state) + *state;
  int *index = used(), *flag = used();
  struct option options[] = {{"long", 0, flag, 7}, {0}};
  ignored = getopt_long(2, (char *[]){"", "--long", NULL}, "", options, index) + *index + *flag;

  FILE *lines = tmpfile();
  fputs("one line that is read back\n", lines);
  rewind(lines);
  char **line = used();
  size_t *size = used();
  line[0] = NULL;
  ignored = (int)getline(line, size, lines) + (int)*size;
  ignored = sum((int *)*line, 4);

  // By an object that holds the pointer.
  struct holder *holder = used();
  holder->inside = used();
  void (*volatile swab_by)(const void *, void *, ssize_t) = swab;
  swab_by("badcfehg", holder->inside, 8);
  ignored = sum(holder->inside, 2);
  return 0;
}
