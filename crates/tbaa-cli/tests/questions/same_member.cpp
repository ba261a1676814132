// Title: one class, which nothing inherits from
// $ tbaa blocks FILE '@f(One*, One*)'
// says: both have the same type, so no tag can separate them
// never: derived class
struct One { int x; };
int f(One *p, One *q) {
  int first = p->x;
  q->x = 1;
  return first + p->x;
}
