// Title: explain asks about an access that LLVM removed
// $ tbaa explain FILE FILE:10 FILE:11
// says: optimised code has no such access: this is about the code as it is written
// says: NoAlias
// $ tbaa alias FILE FILE:10 FILE:99
// says: no memory access of wrong_and_gone.c as assembly comes from line 99
// exit: 2
__attribute__((noinline)) int f(int *i, float *f) {
  int before = *i;
  *f = 2;
  return before + *i;
}
