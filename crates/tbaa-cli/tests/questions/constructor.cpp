// Title: a constructor cannot be declared __restrict
// $ tbaa blocks FILE
// says: copy the value into a local variable
// never: member function
// loads: -DBEFORE > -DAFTER
struct Bytes {
  char *data;
  long length;
  explicit Bytes(char *d);
};
Bytes::Bytes(char *d) {
#ifdef AFTER
  long n = length;
#else
#define n length
#endif
  for (long i = 0; i < n; i++) d[i] = 1;
}
