/* Global, static and constant data; errno, atomics, varargs, strings. */

typedef __builtin_va_list va_list;

double sqrt(double);
unsigned long strlen(const char *);
int *__errno_location(void);
#define errno (*__errno_location())

struct entry {
  const char *name;
  const unsigned char *data;
  short size;
  _Bool used;
};

struct counter {
  _Atomic int hits;
  _Atomic(long) total;
  _Atomic(float *) last;
  int plain;
};

struct argument {
  long l;
  double d;
};

static const int primes[] = {2, 3, 5, 7, 11, 13};
const struct entry builtin[2] = {{"one", 0, 1, 0}, {"two", 0, 2, 1}};
static struct entry entries[8];
static double cache[16];
extern volatile int interrupts;
int generation = 1;
const char *volatile message = "start";

int prime(int i, int *tries) {
  ++*tries;
  return primes[i];
}

const char *find(const char *name, short *size) {
  for (int i = 0; i < 8; i++)
    if (entries[i].used && entries[i].name[0] == name[0]) {
      *size = entries[i].size;
      return entries[i].name;
    }
  *size = builtin[strlen(name) & 1].size;
  return builtin[*size & 1].name;
}

void add(const struct entry *e, int at) {
  entries[at] = *e;
  entries[at].used = 1;
  generation++;
  message = e->name;
}

double root(double *x, int *failures, float *f) {
  errno = 0;
  cache[0] = sqrt(*x);
  *f = (float)cache[0];
  if (errno)
    *failures = errno;
  interrupts++;
  return cache[0];
}

int hit(struct counter *c, float *now, int *seen) {
  c->hits++;
  c->last = now;
  c->plain = *seen;
  __atomic_store_n(seen, 1, __ATOMIC_RELEASE);
  __c11_atomic_fetch_add(&c->total, 5, __ATOMIC_SEQ_CST);
  int expected = 0;
  __atomic_compare_exchange_n(seen, &expected, 2, 0, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  *now = 2;
  return c->hits + expected + (int)c->total;
}

double total(const char *kinds, ...) {
  va_list args;
  double sum = 0;
  __builtin_va_start(args, kinds);
  for (; *kinds; kinds++)
    switch (*kinds) {
    case 'i':
      sum += __builtin_va_arg(args, int);
      break;
    case 'd':
      sum += __builtin_va_arg(args, double);
      break;
    case 's':
      sum += *__builtin_va_arg(args, short *);
      break;
    default:
      sum += __builtin_va_arg(args, struct argument).d;
    }
  __builtin_va_end(args);
  return sum;
}

void reverse(char *s, unsigned *length, char **end) {
  *length = 0;
  while (s[*length])
    ++*length;
  *end = s + *length;
  for (unsigned i = 0; i < *length / 2; i++) {
    char c = s[i];
    s[i] = s[*length - 1 - i];
    s[*length - 1 - i] = c;
  }
}
