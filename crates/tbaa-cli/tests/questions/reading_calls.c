// Title: a call that only reads is repeated like a load
// $ tbaa blocks FILE @upper
// says: @upper: 2 loads and 1 call that reads, 1 cannot be removed
// says: call of @strlen, reading_calls.c:23
// says: LLVM could call it once, before the loop at reading_calls.c:23
// says: store omnipotent char, reading_calls.c:23: what the call reads has no type, so any store may change its result
// says: help: copy the value into a local variable before the loop if it cannot change
// $ tbaa blocks FILE @apart
// says: none blocked by a store or call
// $ tbaa blocks FILE @clear
// says: LLVM could reuse the value of call of @columns
// says: store float, reading_calls.c:29
// $ tbaa blocks FILE @local
// says: none blocked by a store or call
// $ tbaa blocks FILE @writes
// says: call of @next, reading_calls.c:38: it may write what its arguments lead to
// $ tbaa blocks FILE @other
// says: none blocked by a store or call
#include <string.h>
struct row;
__attribute__((pure)) int columns(const struct row *r);
void upper(char *s) {
  for (unsigned long i = 0; i < strlen(s); i++) s[i] |= 32;
}
void apart(const char *s, char *restrict to) {
  for (unsigned long i = 0; i < strlen(s); i++) to[i] = 1;
}
void clear(const struct row *r, float *out) {
  for (int i = 0; i < columns(r); i++) out[i] = 0;
}
int local(const struct row *r) {
  int sum[4] = {0};
  for (int i = 0; i < columns(r); i++) sum[i & 3] += i;
  return sum[0] + sum[1];
}
__attribute__((noinline)) static void next(int *at) { *at = *at * 3 + 1; }
int writes(int *a) { 
  int x = *a; next(a); return x + *a; }
int other(int *restrict a, int *b) {
  int x = *a; next(b); return x + *a; }
