// Title: a counter that the loop itself stores, which a char store keeps in memory
// $ tbaa blocks FILE @f
// says: LLVM would hold the value in a register through the loop
// says: declare parameter w restrict
// says: hold the value in a local variable during the loop
// never: no tag can help
// $ tbaa blocks FILE @f --prove
// says: 1 go (100.0 %)
// looped: -DBEFORE > -DAFTER
// looped: -DBEFORE > -DLOCAL
struct writer { long n; unsigned char *b; };
#ifdef AFTER
void f(struct writer *restrict w, unsigned char *b, const short *x, long m) {
#else
void f(struct writer *w, unsigned char *b, const short *x, long m) {
#endif
#ifdef LOCAL
  long n = w->n;
  for (long i = 0; i < m; i++) b[n++] = x[i];
  w->n = n;
#else
  for (long i = 0; i < m; i++) { b[w->n] = x[i]; w->n++; }
#endif
}
