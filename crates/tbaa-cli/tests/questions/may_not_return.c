// Title: what stands behind a call that may not return is not run in every turn of a loop
// $ tbaa blocks FILE @first
// says: call of @hook, may_not_return.c:35: it may write anything, and it may not return: LLVM may not load before it
// says: help: copy the value into a local variable before the loop
// never: restrict
// $ tbaa blocks FILE @restricted
// says: but these may not return:
// says: call of @hook, may_not_return.c:40: it may not return: LLVM may not load before it
// says: help: copy the value into a local variable before the loop
// $ tbaa blocks FILE @checked
// says: call of @check, may_not_return.c:46: it may not return
// says: store omnipotent char
// never: restrict
// $ tbaa blocks FILE @last
// says: store omnipotent char
// says: restrict
// never: may not return
// $ tbaa blocks FILE @returns
// says: none blocked by a store or call
// $ tbaa blocks FILE @held
// says: 1 store stays in its loop
// says: call of @check, may_not_return.c:64: it may not return: LLVM may not store after it
// says: hold the value in a local variable
// never: restrict
// $ tbaa blocks FILE @known
// says: none blocked by a store or call
void hook(int);
__attribute__((pure)) int ask(int);
__attribute__((noinline)) static void check(long i) { if (i < 0) __builtin_trap(); }
struct cfg { long limit; int *tab; };
static long limit;
void set(long n) { limit = n; }
long first(struct cfg *c, int n) {
  long s = 0;
  for (int i = 0; i < n; i++) { hook(i); s += c->limit; }
  return s;
}
long restricted(struct cfg *restrict c, int n) {
  long s = 0;
  for (int i = 0; i < n; i++) { hook(i); s += c->limit; }
  return s;
}
// The bytes are written behind the call.
void checked(struct cfg *c, char *to, long n) {
  for (long i = 0; i < n; i++) {
    check(i); to[i] = (char)c->limit;
  }
}
// The load comes first.
void last(struct cfg *c, char *to, long n) {
  for (long i = 0; i < n; i++) { long x = c->limit; to[i] = (char)x; check(x); }
}
// A pure function returns.
long returns(struct cfg *c, int n) {
  long s = 0;
  for (int i = 0; i < n; i++) s += ask(i) + c->limit;
  return s;
}
// Others could see the sum when a call ends the program.
struct acc { long sum; };
void held(struct acc *a, const int *d, long n) {
  for (long i = 0; i < n; i++) {
    a->sum += d[i];
    check(d[i]);
  }
}
// A variable is there in any case.
void known(int *to, long n) {
  for (long i = 0; i < n; i++) { check(i); to[i] = (int)limit; }
}
