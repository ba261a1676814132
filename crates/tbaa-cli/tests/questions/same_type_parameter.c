// Title: a store of the same type, and a parameter
// $ tbaa blocks FILE @f
// says: declare parameter n restrict
// never: noalias
// loads: -DBEFORE > -DAFTER
#ifdef AFTER
void f(int *a, int *restrict n) {
#else
void f(int *a, int *n) {
#endif
  for (int i = 0; i < *n; i++) a[i] = 0;
}
