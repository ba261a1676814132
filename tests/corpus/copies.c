/* Structs, unions and arrays copied whole: aggregate tags and tbaa.struct. */

void *memcpy(void *, const void *, unsigned long);

struct point {
  int x, y;
};

struct padded {
  char c;
  double d;
  short s;
};

struct large {
  struct point corners[4];
  struct padded pad;
  float weights[6];
  long id;
};

union slot {
  int i;
  double d;
  struct point p;
};

struct holder {
  union slot slot;
  struct large large;
  unsigned bits : 5, more : 11;
  _Complex float z;
};

struct one {
  float only;
};

struct point get(const struct point *p) { return *p; }
void put(struct point *to, struct point from) { *to = from; }
void copy_padded(struct padded *a, const struct padded *b) { *a = *b; }
void copy_union(union slot *a, const union slot *b) { *a = *b; }
void copy_one(struct one *a, const struct one *b) { *a = *b; }

void copy_large(struct large *a, const struct large *b, long *id) {
  *a = *b;
  a->id = ++*id;
  a->corners[1] = a->corners[0];
  a->pad = b->pad;
}

void copy_holder(struct holder *a, const struct holder *b, struct large *l) {
  a->large = *l;
  a->slot = b->slot;
  *l = b->large;
  a->slot.p = b->large.corners[2];
  a->bits = b->more;
  *a = *b;
  a->z = b->z;
}

int explicit_copy(struct padded *to, const struct padded *from, int *n) {
  memcpy(to, from, sizeof *to);
  *n += to->s;
  memcpy(&to->d, &from->d, sizeof to->d);
  return *n;
}

struct large make(const struct large *template, int x, double d) {
  struct large l = *template;
  l.corners[3].y = x;
  l.pad.d = d;
  l.weights[5] = (float)d;
  return l;
}

void rotate(struct point *p, int n) {
  struct point first = p[0];
  for (int i = 1; i < n; i++)
    p[i - 1] = p[i];
  p[n - 1] = first;
}

float weigh(struct large *l, struct one *ones, const float *f, int *i) {
  ones[0].only = f[0];
  ones[1] = ones[0];
  l->weights[*i] += ones[1].only;
  l->corners[*i].x = l->corners[0].y;
  return l->weights[0] + l->pad.c;
}
