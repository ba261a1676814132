// Title: a load keeps a store in the loop
// Asked: Why is a sum of `Int8` stored in every turn?
// Source: https://github.com/ClickHouse/ClickHouse/pull/59485
// Answer: Each load of a `signed char` may be of the sum itself.
// $ tbaa blocks FILE @f
// says: 1 store stays in its loop
// says: LLVM could store it once, after the loop
// says: load omnipotent char
// says: declare parameter a restrict
// $ tbaa blocks FILE @f --format sarif
// says: StoreStaysInLoop
// looped: -DBEFORE > -DAFTER
struct acc { long s; };
#ifdef AFTER
void f(struct acc *restrict a, const signed char *d, long n) {
#else
void f(struct acc *a, const signed char *d, long n) {
#endif
  for (long i = 0; i < n; i++) a->s += d[i];
}
