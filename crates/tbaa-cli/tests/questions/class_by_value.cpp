// Title: a class that is passed by value has no pointer to be declared __restrict
// $ tbaa blocks FILE
// says: copy the value into a local variable
// never: __restrict
// loads: -DBEFORE > -DAFTER
struct Handle {
  Handle(const Handle &);
  ~Handle();
  char *data;
  long length;
};
void f(Handle h, char c) {
#ifdef AFTER
  long n = h.length;
  char *data = h.data;
#else
#define n h.length
#define data h.data
#endif
  for (long i = 0; i < n; i++) data[i] = c;
}
