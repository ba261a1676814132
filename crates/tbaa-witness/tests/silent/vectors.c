/* Intrinsics without a tag that store a vector, or a part of one. */
#include <emmintrin.h>
#include <stdlib.h>
typedef _Bool mask __attribute__((ext_vector_type(4)));
typedef float lanes __attribute__((ext_vector_type(4)));
static __attribute__((noinline)) void *ints(void) {
  int *at = aligned_alloc(16, 16);
  for (int i = 0; i < 4; i++) at[i] = i;
  return at;
}
static __attribute__((noinline)) float third(float *at) { return at[2]; }
int main(void) {
  void *moved = ints(), *stored = ints();
  _mm_maskmoveu_si128((__m128i)_mm_set1_ps(1.5f), _mm_set1_epi8(-1), moved);
  __builtin_masked_compress_store((mask)1, (lanes)1.5f, (float *)stored);
  return third(moved) + third(stored) == 3 ? 0 : 1;
}
