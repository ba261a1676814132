// Title: members of one type in the size-aware format
// Asked: Do `t1.a` and `t2.b` of one struct alias under -new-struct-path-tbaa?
// Source: https://github.com/llvm/llvm-project/issues/95661
// Answer: No: they lie at different bytes of `T`, which contains no `T`.
// $ clang-22 -Xclang -new-struct-path-tbaa -O1 -S -emit-llvm -o $OUT/two.ll FILE && tbaa matrix $OUT/two.ll --format grid
// says: MN
struct Wrapper { int t; };
struct T { Wrapper a, b; };
extern "C" int f(T *t1, const T *t2) {
  t1->a.t = 1;
  return t2->b.t;
}
