// Title: what a lambda captures has the name of the variable
// $ tbaa blocks FILE
// says: collect(char*, char)::$_0.key (char * at 16 of
// never: $_0+16
void feed(void (*f)(void *, const unsigned char *, long), void *);
template <class F> void call(void *f, const unsigned char *from, long n) { (*(F *)f)(from, n); }
template <class F> void each(F f) { feed(call<F>, &f); }
void collect(char *to, char key) {
  long total = 0;
  each([&](const unsigned char *from, long n) {
    for (long i = 0; i < n; i++)
      to[total++] = from[i] ^ key;
  });
}
