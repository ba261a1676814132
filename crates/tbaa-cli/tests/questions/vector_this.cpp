// Title: members that a loop over bytes may change
// $ tbaa blocks FILE '@filter::f()' --prove
// says: LLVM does not vectorise the loop at vector_this.cpp:
// says: LLVM's remark: cannot identify array bounds
// says: declare the member function __restrict
// says: copy what the loop loads from one place in every turn into local variables
// never: assume_safety
// says: LLVM, if no two objects of the loop overlap: it is vectorised without a check
// scalar: -DBEFORE > -DRESTRICT
// scalar: -DBEFORE > -DLOCAL
struct bytes { unsigned char *first, *last; };
struct filter {
  bytes pixels;
  unsigned char limit;
#ifdef RESTRICT
  void f() __restrict;
#else
  void f();
#endif
};
#ifdef RESTRICT
void filter::f() __restrict {
#else
void filter::f() {
#endif
#ifdef LOCAL
  unsigned char *p = pixels.first, l = limit;
  long n = pixels.last - pixels.first;
  for (long i = 0; i < n; i++)
    if (p[i] < l) p[i] = 0;
#else
  for (long i = 0; i < pixels.last - pixels.first; i++)
    if (pixels.first[i] < limit) pixels.first[i] = 0;
#endif
}
