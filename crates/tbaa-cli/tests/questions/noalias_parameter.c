// Title: what is restrict already is not advised again
// $ tbaa blocks FILE @f
// never: restrict
// says: copy the value into a local variable
// looped: -DBEFORE > -DAFTER
struct vec { long *data, len; };
void keep(struct vec *);
void f(struct vec *restrict v) {
  keep(v);
#ifdef AFTER
  long n = v->len;
  for (long i = 0; i < n; i++) v->data[i] = 0;
#else
  for (long i = 0; i < v->len; i++) v->data[i] = 0;
#endif
}
