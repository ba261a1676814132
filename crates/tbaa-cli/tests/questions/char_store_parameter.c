// Title: a char store, and a parameter
// $ tbaa blocks FILE @f
// says: declare parameter v restrict
// never: noalias
// loads: -DBEFORE > -DAFTER
struct vec { float *data; long len; };
#ifdef AFTER
void f(struct vec *restrict v, char *seen) {
#else
void f(struct vec *v, char *seen) {
#endif
  for (long i = 0; i < v->len; i++) seen[i] = 1;
}
