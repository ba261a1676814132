// Title: two derived classes share a base class
// Asked: Why does clang reload a member of a base class after a store through another derived class?
// Source: https://github.com/llvm/llvm-project/issues/130958
// Answer: clang's tags name the class that declares the member: both are `Base.x`.
// $ tbaa blocks FILE '@f(One*, Two*)'
// says: both are members of Base; clang's tags name the class that declares a member
// never: no tag can separate them
// loads: -DBEFORE > -DAFTER
struct Base { int x; };
struct One : Base { int a; };
struct Two : Base { int b; };
#ifdef AFTER
int f(One *__restrict p, Two *q) {
#else
int f(One *p, Two *q) {
#endif
  int first = p->x;
  q->x = 1;
  return first + p->x;
}
