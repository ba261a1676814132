// Title: a member of a union
// $ tbaa blocks FILE @f
// says: copy the value into a local variable
// never: noalias
// loads: -DBEFORE > -DAFTER
union u { int i; float f; };
struct s { union u u; int n; };
int f(union u **p, int *q) {
  int a = (*p)->i;
#ifdef AFTER
  int b = a;
  *q = 1;
#else
  *q = 1;
  int b = (*p)->i;
#endif
  return a + b;
}
