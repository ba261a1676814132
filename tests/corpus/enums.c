/* Enumerations (which are their integer), _Bool, and the integer types. */

enum color { RED, GREEN, BLUE };
enum signed_one { MINUS = -1, ZERO };
enum wide { HUGE_VALUE = 0x100000000L };

struct pixel {
  enum color color;
  enum signed_one trend;
  int depth;
  unsigned alpha;
  enum wide wide;
  _Bool visible;
};

struct integers {
  signed char sc;
  unsigned char uc;
  char c;
  short s;
  unsigned short us;
  int i;
  unsigned u;
  long l;
  unsigned long ul;
  long long ll;
  unsigned long long ull;
  __int128 big;
  unsigned __int128 ubig;
};

struct reals {
  _Float16 h;
  float f;
  double d;
  long double ld;
  __float128 q;
};

int paint(struct pixel *p, enum color *c, unsigned *u, int *i) {
  *c = BLUE;
  *u = 3;
  *i = 4;
  p->color = *c;
  p->trend = MINUS;
  p->alpha = *u;
  p->visible = p->depth > *i;
  return (int)p->color + p->trend;
}

long distinct(long *l, long long *ll, unsigned long *ul, enum wide *w) {
  *l = 1;
  *ll = 2;
  *ul = 3;
  *w = HUGE_VALUE;
  return *l + (long)*ll;
}

void spread(struct integers *x) {
  x->uc = (unsigned char)x->sc;
  x->c = (char)x->uc;
  x->us = (unsigned short)x->s;
  x->u = (unsigned)x->i;
  x->ul = (unsigned long)x->l;
  x->ull = (unsigned long long)x->ll;
  x->big += x->ll;
  x->ubig = (unsigned __int128)x->big;
}

__int128 wide_sum(const __int128 *v, const long *n, _Bool *overflow) {
  __int128 sum = 0;
  for (long i = 0; i < *n; i++) {
    *overflow |= v[i] > ((__int128)1 << 100);
    sum += v[i];
  }
  return sum;
}

double real(struct reals *r, float *f, double *d, long double *ld) {
  r->f = *f + (float)r->h;
  r->d = *d + r->f;
  r->ld = *ld + r->d;
  r->q = (__float128)r->ld;
  *f = (float)*d;
  *d = (double)*ld;
  return r->d;
}

int count(const enum color *cs, int n, int histogram[3], const _Bool *skip) {
  for (int i = 0; i < n; i++)
    if (!skip[i])
      histogram[cs[i]]++;
  return histogram[RED];
}
