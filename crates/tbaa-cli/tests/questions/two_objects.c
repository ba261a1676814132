// Title: the same member of two objects is two entries
// $ tbaa blocks FILE --top 1
// says: declare parameter src restrict
// never: 1 more load of it
// $ tbaa blocks FILE
// says: declare parameter src restrict
// says: declare parameter dst restrict
// looped: -DBEFORE > -DHALF
// looped: -DHALF > -DAFTER
struct image { unsigned char *pixels; long w; };
#ifdef AFTER
void f(struct image *restrict dst, struct image *restrict src, long n) {
#elif defined HALF
void f(struct image *dst, struct image *restrict src, long n) {
#else
void f(struct image *dst, struct image *src, long n) {
#endif
  for (long i = 0; i < n; i++) dst->pixels[i] = src->pixels[i];
}
