// Title: vector types that may alias, one member of a union, and a copy of a union
// $ tbaa blocks FILE @f
// says: it is a vector type that may alias, such as __m128i
// never: a copy of a union
// loads: -DBEFORE > -DAFTER
// $ tbaa blocks FILE @member
// says: clang tags a member of a union so
// never: a copy of a union
// $ tbaa blocks FILE @copy
// says: a copy of a union or of several fields
#include <emmintrin.h>
union number { int i; float f; };
int f(int *p, __m128i *q, __m128i *r) {
  int first = *p;
#ifdef AFTER
  _mm_storeu_si128(q, _mm_loadu_si128(r));
  return first + first;
#else
  _mm_storeu_si128(q, _mm_loadu_si128(r));
  return first + *p;
#endif
}
int member(int *p, union number *q, float *x) {
  int first = *p;
  q->f = *x;
  return first + *p;
}
int copy(int *p, union number *q, union number *r) {
  int first = *p;
  *q = *r;
  return first + *p;
}
