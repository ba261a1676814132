// Title: a load that only the way through a call needs: LLVM loads there alone
// $ tbaa blocks FILE @f
// says: none blocked by a store or call
// $ tbaa blocks FILE @turn
// says: call of @grow, cold_way.c
// $ tbaa blocks FILE @both
// says: call of @grow, cold_way.c
struct buffer { long size, capacity; };
void grow(struct buffer *b);
long f(struct buffer *b) {
  long x = b->size;
  if (x == b->capacity) grow(b);
  return x + b->size;
}
long turn(struct buffer *b, long n) {
  long s = b->size;
  for (long i = 0; i < n; i++) {
    s += b->size;
    grow(b);
  }
  return s;
}
long both(struct buffer *b, long n) {
  long x = b->size;
  if (n) grow(b);
  else grow(b + 1);
  return x + b->size;
}
