// Title: arrays behind members: no parameter to declare
// $ tbaa blocks FILE @f --prove
// says: LLVM checks at run time, before the loop at vector_members.c:
// says: `#pragma clang loop vectorize(assume_safety)`
// never: restrict
// checks: -DBEFORE > -DPRAGMA
struct vec { float *data; long len; };
void f(struct vec *v, struct vec *w) {
#ifdef PRAGMA
#pragma clang loop vectorize(assume_safety)
#endif
  for (long i = 0; i < v->len; i++) v->data[i] = w->data[i] * 2;
}
