// Title: the vtable pointer, which no program can copy
// Asked: Why is the vtable pointer loaded again for each virtual call of one object?
// Source: https://github.com/llvm/llvm-project/issues/33361
// Answer: The called function may put another object there, as far as LLVM knows. `-fstrict-vtable-pointers` says that it does not.
// $ tbaa blocks FILE @f
// says: help: compile with -fstrict-vtable-pointers
// never: copy the value
// loads: -DBEFORE > -fstrict-vtable-pointers
struct A {
  virtual int g();
  virtual void h();
};
extern "C" int f(A *a) {
  int x = a->g();
  a->h();
  return x + a->g();
}
