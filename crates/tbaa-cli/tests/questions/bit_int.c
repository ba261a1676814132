// Title: a byte type for C
// Asked: `Int8` is `signed char`. Which type makes sums faster?
// Source: https://github.com/ClickHouse/ClickHouse/pull/59485
// Answer: `_BitInt(8)`, from 0.448 to 0.230 s there: it has its own tag.
// $ tbaa blocks FILE @f
// says: _BitInt(8)
// loads: -std=c23 > -std=c23 -DAFTER
#ifdef AFTER
typedef _BitInt(8) byte;
#else
typedef signed char byte;
#endif
struct vec { long len; };
void f(struct vec *v, byte *d, byte x) {
  for (long i = 0; i < v->len; i++) d[i] = x;
}
