/* may_alias types, character access, packed and aligned structs, volatile. */

typedef int __attribute__((may_alias)) loose_int;
typedef float __attribute__((may_alias)) loose_float;
typedef unsigned char byte;

struct __attribute__((may_alias)) loose {
  int a;
  float b;
};

struct strict {
  int a;
  float b;
};

struct holder {
  loose_int li;
  int i;
  struct loose loose;
  struct strict strict;
};

struct __attribute__((packed)) wire {
  char kind;
  int length;
  short port;
  double value;
  struct strict body;
};

struct aligned {
  char c;
  int i __attribute__((aligned(16)));
  float f;
} __attribute__((aligned(64)));

#pragma pack(push, 2)
struct half_packed {
  char c;
  long l;
  int i;
};
#pragma pack(pop)

int type_pun(float *f) {
  *(loose_int *)f ^= 1 << 31;
  return *(loose_int *)f;
}

int through(struct loose *l, struct strict *s, int *i, float *f) {
  l->a = 1;
  s->a = 2;
  *i = 3;
  l->b = 4;
  s->b = 5;
  *f = 6;
  return l->a + s->a;
}

float held(struct holder *h, loose_float *f) {
  h->li = 1;
  h->i = 2;
  h->loose.a = 3;
  h->strict.a = 4;
  h->loose.b = *f;
  h->strict.b = *f;
  return *f + h->li;
}

double decode(struct wire *w, const byte *bytes, short *ports, int *lengths) {
  w->kind = (char)bytes[0];
  w->length = lengths[w->kind & 1];
  w->port = *ports;
  w->body.a = w->length;
  w->body.b += 1;
  *ports = (short)(w->port + 1);
  return w->value;
}

long shuffle(struct aligned *a, struct half_packed *p, long *out) {
  a->i = p->i;
  a->f = a->c;
  p->l += a->i;
  p->c = a->c;
  *out = p->l;
  return *out;
}

int device(volatile int *status, volatile struct strict *regs, int *copy) {
  while (!(*status & 1))
    regs->a = *copy;
  regs->b = 0;
  *copy = regs->a;
  return *status;
}

void raw(void *to, const char *from, signed char *s, const byte *b, int n) {
  for (int i = 0; i < n; i++)
    ((char *)to)[i] = from[i];
  *s = (signed char)*b;
}
