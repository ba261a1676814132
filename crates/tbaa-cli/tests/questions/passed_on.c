// Title: restrict is advised where LLVM can use it: the parameter is not passed on before
// $ tbaa blocks FILE @f
// says: declare parameter v restrict
// $ tbaa blocks FILE @passed
// says: may be vec.len
// never: restrict
// loads: -DBEFORE > -DAFTER
#ifdef AFTER
#define ONLY restrict
#else
#define ONLY
#endif
struct vec { long len; long *data; };
void keep(struct vec *v);
long f(struct vec *ONLY v, struct vec *w) {
  long x = v->len;
  w->data[x] = 1;
  return x + v->len;
}
long passed(struct vec *ONLY v, struct vec *w) {
  keep(v);
  long x = v->len;
  w->data[x] = 1;
  return x + v->len;
}
