// Single, multiple and virtual inheritance; empty bases; bases with tail
// padding that a derived class fills.

struct Shape {
  int id;
  float area;
  char tag;
};

struct Circle : Shape {
  char small;
  double radius;
};

struct Padded {
  Padded();
  int value;
  short last;

private:
  char hidden;
};

struct Filled : Padded {
  char filler; // in the tail padding of Padded, which is no aggregate
  float extra;
};

struct Named {
  const char *name;
  long uses;
};

struct Label : Shape, Named {
  int size;
};

struct Empty {};
struct Nothing {};
struct Policy : Nothing {};

struct Compact : Empty, Policy {
  int only;
  float other;
};

struct Left : virtual Shape {
  int left;
};

struct Right : virtual Shape {
  float right;
};

struct Bottom : Left, Right {
  double bottom;
};

struct Deep : Label {
  Circle circles[2];
  Compact compact;
  short depth;
};

double area(Circle *c, const double *pi) {
  c->area = static_cast<float>(*pi * c->radius * c->radius);
  c->id++;
  c->small = c->tag;
  return c->area;
}

int as_base(Shape *s, Circle *c, int *n, float *f) {
  s->id = 1;
  c->id = 2;
  *n = 3;
  *f = s->area;
  c->radius = 4;
  return s->id;
}

float fill(Filled *f, Padded *p, char *c) {
  f->filler = *c;
  p->last = 'p';
  f->value = p->value;
  f->extra += 1;
  return f->extra + f->last;
}

long label(Label *l, Named *n, const char **names) {
  l->name = names[l->id];
  n->uses++;
  l->uses = n->uses + l->size;
  l->area = 0;
  return l->uses;
}

int compact(Compact *c, int *i, float *f) {
  c->only = *i;
  c->other = *f;
  Compact copy = *c;
  return copy.only;
}

double diamond(Bottom *b, Left *l, Right *r, Shape *s) {
  b->left = l->left;
  b->right = r->right;
  l->id = s->id;
  r->area = static_cast<float>(b->bottom);
  b->tag = 'b';
  return b->bottom + b->id;
}

int deep(Deep *d, Shape *s, double *r) {
  d->circles[1].radius = *r;
  d->circles[0].id = s->id;
  d->compact.only = d->size;
  d->depth++;
  d->name = nullptr;
  static_cast<Shape &>(d->circles[1]) = *s;
  return d->id;
}
