// Types without a name of their own that a linker would see: anonymous
// namespaces, unnamed structs, and structs local to two functions.

namespace {
struct Hidden {
  int count;
  float ratio;
};

enum class Mode { Off, On };

struct Holder {
  Hidden hidden;
  Mode mode;
  Hidden *link;
};
} // namespace

namespace outer {
struct Hidden {
  float ratio;
  int count;
};
} // namespace outer

struct Outer {
  struct {
    int a;
    double b;
  } inner;
  struct Inner {
    short s;
    Outer *up;
  } named;
  union {
    long number;
    void *pointer;
  };
};

typedef struct {
  int x;
  float y;
} Typedefed;

Hidden *first_hidden(void *);

float hidden(void *p, outer::Hidden *o, int *n) {
  Hidden *h = first_hidden(p);
  h->count = *n;
  o->count = 2;
  h->ratio += o->ratio;
  *n = h->count;
  return h->ratio;
}

Hidden *first_hidden(void *p) {
  Holder *h = static_cast<Holder *>(p);
  h->mode = Mode::On;
  h->hidden.count++;
  return h->link ? h->link : &h->hidden;
}

int local_one(void *p, int *n) {
  struct Local {
    int a;
    float b;
  };
  Local *l = static_cast<Local *>(p);
  l->a = *n;
  l->b = 1;
  *n = 2;
  return l->a;
}

float local_two(void *p, float *f) {
  struct Local {
    float a;
    int b;
  };
  Local *l = static_cast<Local *>(p);
  l->a = *f;
  l->b = 1;
  *f = 2;
  return l->a;
}

double nested(Outer *o, Outer::Inner *i, double *d, long *n) {
  o->inner.a = i->s;
  o->inner.b = *d;
  i->up->named.s = 3;
  o->named.up = i->up;
  *n = o->number;
  o->pointer = n;
  return o->inner.b;
}

float typedefed(Typedefed *t, const Typedefed *u) {
  t->x = u->x;
  t->y = u->y;
  *t = *u;
  return t->y;
}

int lambdas(int *a, float *b) {
  auto counter = [n = *a]() mutable { return ++n; };
  struct {
    decltype(counter) next;
    float *target;
  } state{counter, b};
  *state.target = 1;
  auto twice = [&state, a] { *a = state.next() + state.next(); };
  twice();
  return *a;
}
