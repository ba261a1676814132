// Title: a function that has results through pointers is not pure
// $ tbaa blocks FILE @f
// says: copy the value into a local variable
// never: noalias
// never: pure
// loads: -DBEFORE > -DAFTER
int count(const int *a, int *max);
int f(const int *a, const int *n, int *max) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  int s = 0;
  for (int i = 0; i < m; i++) s += count(a, max);
  return s;
}
