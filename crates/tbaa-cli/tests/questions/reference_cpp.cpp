// Title: C++
// $ tbaa blocks FILE @f
// says: declare parameter n __restrict
// never: noalias
// loads: -DBEFORE > -DAFTER
#ifdef AFTER
extern "C" void f(int *a, int *__restrict n) {
#else
extern "C" void f(int *a, int *n) {
#endif
  for (int i = 0; i < *n; i++) a[i] = 0;
}
