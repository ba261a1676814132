// Title: the vtable pointer, which no program can copy
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
