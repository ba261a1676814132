// A pool of the C++ library, which is not checked, hands memory out again. A program's own pool gives
// memory to containers, and the library writes the links of their nodes.
#include <list>
#include <map>
#include <memory_resource>
#include <new>
float sink;
__attribute__((noinline)) int get(int *p) {
  return *p;
}
__attribute__((noinline)) void set(float *p) {
  *p = 7;
}
alignas(16) double memory[256];
char *top = reinterpret_cast<char *>(memory);
template <class T> struct Own {
  using value_type = T;
  Own() = default;
  template <class U> Own(const Own<U> &) {}
  T *allocate(std::size_t n) {
    void *at = top;
    top += (n * sizeof(T) + 15) & -16;
    return static_cast<T *>(at);
  }
  void deallocate(T *, std::size_t) {}
  bool operator==(const Own &) const = default;
};
int main() {
  for (double &part : memory) part = 1;
  std::list<int, Own<int>> list(3, 1);
  std::map<int, int, std::less<int>, Own<std::pair<const int, int>>> map;
  for (int n : list) map[map.size()] = n;
  std::pmr::unsynchronized_pool_resource pool;
  int *n = new (pool.allocate(16, 8)) int(3);
  sink = get(n);
  pool.deallocate(n, 16, 8);
  set(static_cast<float *>(pool.allocate(16, 8)));
  return 0;
}
