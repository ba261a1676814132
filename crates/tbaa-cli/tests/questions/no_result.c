// Title: a function without a result is not pure
// $ tbaa blocks FILE @f
// says: copy the value into a local variable
// never: noalias
// never: pure
// loads: -DBEFORE > -DAFTER
void put(int);
void f(int *n) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) put(i);
}
