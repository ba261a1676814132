// Title: a length that a char store may change keeps a loop from vectors
// $ tbaa blocks FILE @f --prove
// says: 1 loop is not vectorised, or behind a check
// says: LLVM does not vectorise the loop at vector_length.c:
// says: LLVM's remark: Cannot vectorize uncountable loop
// says: declare parameter v restrict
// says: copy the value into a local variable before the loop
// says: LLVM, if no two objects of the loop overlap: it is vectorised without a check
// $ tbaa blocks FILE @f
// never: vectorise
// $ tbaa blocks FILE @f --prove --format sarif
// says: LoopNotVectorized
// scalar: -DBEFORE > -DAFTER
// scalar: -DBEFORE > -DLOCAL
// scalar: -DBEFORE > -DBYTE
struct vec { float *data; long len; };
#ifdef BYTE
typedef unsigned _BitInt(8) byte;
#else
typedef unsigned char byte;
#endif
#ifdef AFTER
void f(struct vec *restrict v, byte *seen) {
#else
void f(struct vec *v, byte *seen) {
#endif
#ifdef LOCAL
  long len = v->len;
  for (long i = 0; i < len; i++) seen[i] = seen[i] + 1;
#else
  for (long i = 0; i < v->len; i++) seen[i] = seen[i] + 1;
#endif
}
