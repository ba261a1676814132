/* Memory that the C library writes, after the program had it otherwise. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
double sum;
static void pack(int n, ...) {
  va_list list;
  va_start(list, n);
  for (int i = 0; i < n; i++) sum += i % 2 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
}
int main(void) {
  _Alignas(8) char buffer[64];
  for (int i = 0; i < 10; i++) {
    *(volatile float *)buffer = i;
    int ends[2];
    if (pipe(ends)) return 1;
    long value = 7;
    if (write(ends[1], &value, sizeof value) != sizeof value) return 1;
    if (read(ends[0], buffer, sizeof value) != sizeof value) return 1;
    sum += *(long *)buffer;
    close(ends[0]);
    close(ends[1]);
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)(buffer + 8) = 2;
    snprintf(buffer + 8, 20, "%d and %d", 12345678, i);
    sum += *(long *)(buffer + 8);
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)(buffer + 16) = 2;
    sscanf("12 13", "%d %ld", &ends[0], (long *)(buffer + 16));
    sum += *(long *)(buffer + 16);
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)(buffer + 24) = 2;
    strcpy(buffer + 24, "1234567");
    sum += *(long *)(buffer + 24);
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)buffer = 2;
    clock_gettime(CLOCK_REALTIME, (struct timespec *)buffer);
    sum += ((struct timespec *)buffer)->tv_sec;
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)buffer = 2;
    *(volatile float *)(buffer + 32) = 2;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) return 1;
    long two[2] = {value, value};
    if (write(ends[1], two, sizeof two) != sizeof two) return 1;
    if (write(ends[1], two, sizeof two) != sizeof two) return 1;
    struct iovec parts[2] = {{buffer, 8}, {buffer + 32, 8}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    if (recvmsg(ends[0], &message, 0) != sizeof two) return 1;
    sum += *(long *)buffer + *(long *)(buffer + 32);
    memset(buffer, 0, sizeof buffer);
    *(volatile float *)(buffer + 32) = 2;
    if (readv(ends[0], parts, 2) != sizeof two) return 1;
    sum += *(long *)(buffer + 32);
    close(ends[0]);
    close(ends[1]);
    memset(buffer, 0, sizeof buffer);
    pack(4, 1, 2.0, 3, 4.0);
    pack(12, 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0, 11, 12.0);
  }
  return 0;
}
