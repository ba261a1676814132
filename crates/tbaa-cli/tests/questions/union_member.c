// Title: a member of a union
// Asked: Why is a member of a union loaded again after a store to an `int`?
// Source: https://github.com/JuliaMath/openlibm/pull/156
// Answer: clang tags members of unions as `char`: any store may change them.
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
