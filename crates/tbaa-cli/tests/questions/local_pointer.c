// Title: a pointer that is loaded: restrict on a local is not heeded
// $ tbaa blocks FILE @f
// says: copy the value into a local variable
// never: noalias
// never: restrict
// loads: -DBEFORE > -DAFTER
struct s { int *a; int *n; } *g;
void f(void) {
  int *n = g->n, *a = g->a;
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) a[i] = 0;
}
