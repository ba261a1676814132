// A placement new over an object of another type, in one function.
#include <new>
static volatile float sum;
int main() {
  alignas(16) unsigned char buffer[16];
  int *number = new (buffer) int(1); // first
  float *real = new (number) float(2); // second
  sum = *real;
  return 0;
}
