// A new object where another was, read by the old one's pointer.
#include <cstdlib>
#include <new>
struct Number { long value; };
struct Real { double value; };
__attribute__((noinline)) static long replace(Number *number, void *place) {
  number->value = 1;
  Real *real = new (place) Real;
  real->value = 0; // first
  return number->value; // second
}
int main() {
  void *volatile p = std::malloc(8);
  return replace(static_cast<Number *>(p), p) != 0;
}
