// Title: the parameter holds the pointer that is stored through
// $ tbaa blocks FILE @f
// says: declare parameter s restrict
// never: noalias
// loads: -DBEFORE > -DAFTER
struct s { int *a; int n; };
#ifdef AFTER
void f(struct s *restrict s) {
#else
void f(struct s *s) {
#endif
  for (int i = 0; i < s->n; i++) s->a[i] = 0;
}
