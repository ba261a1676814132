// Title: typedefs of structs without names
// Asked: Why does clang reload after a store through another typedef of an unnamed struct?
// Source: https://github.com/llvm/llvm-project/issues/115252
// Answer: C lets such structs be one type in another file. Give them names.
// $ tbaa blocks FILE @f
// says: both have the same type
// loads: -DBEFORE > -DAFTER
#ifdef AFTER
typedef struct one { int i; } one;
typedef struct two { int i; } two;
#else
typedef struct { int i; } one;
typedef struct { int i; } two;
#endif
int f(one *p, two *q) {
  int first = p->i;
  q->i = 3;
  return first + p->i;
}
