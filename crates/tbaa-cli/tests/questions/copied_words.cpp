// Title: a struct that is copied through unsigned words
// $ tbaa run FILE
// says: as "long long"
// exit: 66
#include <cstdio>
struct pair { long long a, b; };
static void copy_words(pair *to, pair *from) {
  unsigned *d = (unsigned *)to, *s = (unsigned *)from;
  for (unsigned i = 0; i < sizeof(pair) / sizeof(unsigned); i++) *d++ = *s++;
}
__attribute__((noinline)) void fill(pair *to, const int *which, int n) {
  pair table[4];
  for (int i = 0; i < 4; i++) table[i] = pair{i + n, i * n};
  copy_words(&to[n], &table[which[n]]);
}
int main() {
  pair out[2] = {};
  int which[2] = {1, 2};
  fill(out, which, 1);
  printf("%lld\n", out[1].a);
}
