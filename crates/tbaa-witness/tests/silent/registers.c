/* Vector and other registers keep their values through checks, whatever these find, and through what forgets. */
typedef int any_int __attribute__((may_alias));
typedef long any_long __attribute__((may_alias));

#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13)
#define FEW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define VALUE(N) double x##N = seed + N;
#define NUMBER(N) long n##N = 77L * seed + N;
/* Keeps them where they are: nobody knows their values any more. */
#define PINNED(N) asm volatile("" : "+x"(x##N));
#define KEPT(N) asm volatile("" : "+r"(n##N));
#define SAME(N) wrong += x##N != seed + N;
#define EQUAL(N) wrong += n##N != 77L * seed + N;

#define ACCESS(NAME, TYPE, DO)                                  \
  __attribute__((noinline)) static int NAME(void *at, int seed) { \
    TYPE *p = at;                                               \
    int wrong = 0;                                              \
    ALL(VALUE) FEW(NUMBER) ALL(PINNED) FEW(KEPT) DO;            \
    ALL(PINNED) FEW(KEPT) ALL(SAME) FEW(EQUAL)                  \
    return wrong;                                               \
  }

ACCESS(write_char, volatile char, *p = 1)
ACCESS(write_short, volatile short, *p = 1)
ACCESS(write_int, volatile int, *p = 1)
ACCESS(write_long, volatile long, *p = 1)
ACCESS(write_any_int, volatile any_int, *p = 1)
ACCESS(write_any_long, volatile any_long, *p = 1)
ACCESS(read_short, volatile short, (void)*p)
ACCESS(read_int, volatile int, (void)*p)
ACCESS(read_long, volatile long, (void)*p)
ACCESS(bump_short, volatile short, *p += 1)
ACCESS(bump_int, volatile int, *p += 1)

typedef int (*Access)(void *, int);

int main(void) {
  static long memory[64];
  /* Each first access is followed by each second one, which it does not contradict. */
  static const Access firsts[] = {write_short, write_int, write_long, bump_short, bump_int};
  static const Access seconds[] = {write_char, write_any_int, write_any_long, write_short, write_int, write_long};
  static const Access lasts[] = {read_short, read_int, read_long};
  int wrong = 0, at = 0;
  for (int round = 0; round < 4; round++)
    for (int first = 0; first < 5; first++)
      for (int second = 0; second < 6; second++) {
        char *place = (char *)&memory[at++ % 60];
        write_any_long(place, 0);
        wrong += firsts[first](place, at) + seconds[second](place + (second ? 0 : round), at);
        if (second > 2) wrong += lasts[second - 3](place, at);
      }
  return wrong != 0;
}
