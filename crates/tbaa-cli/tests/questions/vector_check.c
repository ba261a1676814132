// Title: two arrays of one type, and a check in front of the loop
// Asked: Two arrays are passed by reference. Why does clang make two loops of one?
// Source: https://github.com/llvm/llvm-project/issues/130318
// Answer: It checks at run time that they do not overlap. `restrict` helps.
// $ tbaa blocks FILE @f --prove
// says: LLVM checks at run time, before the loop at vector_check.c:
// says: both have the same type, so no tag can separate them
// says: declare parameter b restrict
// says: `#pragma clang loop vectorize(assume_safety)`
// says: it is vectorised without a check
// checks: -DBEFORE > -DAFTER
// checks: -DBEFORE > -DPRAGMA
#ifdef AFTER
void f(float *a, const float *restrict b, long n) {
#else
void f(float *a, const float *b, long n) {
#endif
#ifdef PRAGMA
#pragma clang loop vectorize(assume_safety)
#endif
  for (long i = 0; i < n; i++) a[i] = b[i] * 2;
}
