// Title: the object of a member function
// $ tbaa blocks FILE
// says: declare the member function __restrict, after its parameters
// never: parameter this
// loads: -DBEFORE > -DAFTER
struct Bytes {
  char *data;
  long length;
  void fill(char c)
#ifdef AFTER
      __restrict
#endif
      ;
};
void Bytes::fill(char c)
#ifdef AFTER
    __restrict
#endif
{
  for (long i = 0; i < length; i++) data[i] = c;
}
