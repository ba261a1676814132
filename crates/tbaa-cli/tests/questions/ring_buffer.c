// Title: a counter of a ring buffer is stored in each turn; restrict does not help within one object
// $ tbaa blocks FILE @f
// says: LLVM could store it once, after the loop
// says: hold the value in a local variable during the loop
// never: restrict
// looped: -DBEFORE > -DAFTER
struct ring { unsigned head; char buf[4096]; };
void f(struct ring *r, const char *s, long n) {
#ifdef AFTER
  unsigned h = r->head;
  for (long i = 0; i < n; i++) { r->buf[h & 4095] = s[i]; h++; }
  r->head = h;
#else
  for (long i = 0; i < n; i++) { r->buf[r->head & 4095] = s[i]; r->head++; }
#endif
}
