// verdict: so LLVM is wrong: docs/llvm.md
#include <cstdio>
#include <new>
__attribute__((noinline)) long cycle(unsigned char *raw, int a, int b, int c) {
  long *first = new (raw) long;
  first[c] = 10;
  long long *second = new (raw) long long;
  second[a] = 20;
  long long kept = second[b];
  long *third = new (raw) long;
  third[b] = (long)kept;
  return third[c];
}
int main() {
  alignas(8) unsigned char raw[8];
  long r = cycle(raw, 0, 0, 0);
  std::printf("%ld\n", r);
  return r != 20;
}
