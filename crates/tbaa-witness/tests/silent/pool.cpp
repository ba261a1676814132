// A pool of the C++ library, which is not checked, hands memory out again.
#include <memory_resource>
#include <new>
float sink;
__attribute__((noinline)) int get(int *p) {
  return *p;
}
__attribute__((noinline)) void set(float *p) {
  *p = 7;
}
int main() {
  std::pmr::unsynchronized_pool_resource pool;
  int *n = new (pool.allocate(16, 8)) int(3);
  sink = get(n);
  pool.deallocate(n, 16, 8);
  set(static_cast<float *>(pool.allocate(16, 8)));
  return 0;
}
