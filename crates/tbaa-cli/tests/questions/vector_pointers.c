// Title: pointers that move through two arrays
// $ tbaa blocks FILE @f --prove
// says: LLVM checks at run time, before the loop at vector_pointers.c:
// says: restrict if no other pointer leads there
// checks: -DBEFORE > -DAFTER
#ifdef AFTER
void f(short *restrict to, short *restrict from, short *end) {
#else
void f(short *to, short *from, short *end) {
#endif
  while (from != end) *to++ = *from++ * 3;
}
