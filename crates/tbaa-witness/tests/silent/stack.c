/* Stack slots in loops, blocks, recursion, of variable length, and alloca. */
#include <alloca.h>
#include <string.h>
float sum;
__attribute__((noinline)) void add_int(int *p) { sum += *p; }
__attribute__((noinline)) void add_float(float *p) { sum += *p; }
__attribute__((noinline)) void add_long(long *p) { sum += *p; }
struct Large { int a[20]; };
struct Other { float a[20]; };
__attribute__((noinline)) void by_value(struct Large large) { add_int(&large.a[3]); }
__attribute__((noinline)) void other_by_value(struct Other other) { add_float(&other.a[3]); }
__attribute__((noinline)) void recurse(int depth) {
  if (depth % 2) {
    int local[4];
    local[depth % 4] = depth;
    add_int(&local[depth % 4]);
    if (depth) recurse(depth - 1);
  } else {
    float local[4];
    local[depth % 4] = depth;
    add_float(&local[depth % 4]);
    if (depth) recurse(depth - 1);
  }
}
__attribute__((noinline)) void variable(int n) {
  long array[n];
  array[n - 1] = n;
  add_long(&array[n - 1]);
  if (n % 3 == 0) {
    float *more = alloca(n * sizeof *more);
    more[n / 2] = n;
    add_float(&more[n / 2]);
  }
}
int main(void) {
  for (int i = 0; i < 100; i++) {
    { int a = i; add_int(&a); }
    { float b = i; add_float(&b); }
    { long c = i; add_long(&c); }
    recurse(i % 9);
    variable(i % 20 + 1);
    struct Large large;
    memset(&large, 0, sizeof large);
    by_value(large);
    struct Other other;
    other.a[3] = 1;
    other_by_value(other);
  }
  return 0;
}
