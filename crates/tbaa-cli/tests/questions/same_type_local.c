// Title: the same, by the local variable
// $ tbaa blocks FILE @f
// says: or copy the value into a local variable
// never: noalias
// loads: -DBEFORE > -DAFTER
void f(int *a, int *n) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) a[i] = 0;
}
