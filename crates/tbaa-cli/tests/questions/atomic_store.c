// Title: an atomic store keeps its place: a copy frees the load
// $ tbaa blocks FILE @f -- -DAGAIN
// says: help: LLVM keeps the order of atomic accesses and fences: copy the value into a local variable
// loads: -DAGAIN > -DONCE
struct queue { long n; };
long f(struct queue *q, _Atomic long *a) {
  long k = q->n;
  *a = 1;
#ifdef AGAIN
  return k + q->n;
#else
  return k + k;
#endif
}
