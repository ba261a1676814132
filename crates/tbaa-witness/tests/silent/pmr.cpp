// A pool of the C++ library behind a resource that says what is given out.
#include "tbaa_witness.h"
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

class Told final : public std::pmr::memory_resource {
  std::pmr::unsynchronized_pool_resource pool;
  void *do_allocate(std::size_t size, std::size_t align) override {
    void *given = pool.allocate(size, align);
    tbaa_witness_fresh(given, size);
    return given;
  }
  void do_deallocate(void *given, std::size_t size, std::size_t align) override {
    pool.deallocate(given, size, align);
  }
  bool do_is_equal(const memory_resource &other) const noexcept override {
    return this == &other;
  }
};

double sum;

int main() {
  Told pool;
  for (int i = 0; i < 50; i++) {
    std::pmr::vector<int> ints(&pool);
    for (int j = 0; j < i; j++) ints.push_back(j);
    std::pmr::list<double> doubles(&pool);
    for (int n : ints) doubles.push_back(n);
    std::pmr::map<std::pmr::string, float> map(&pool);
    for (double n : doubles) map[std::pmr::string(40, char('a' + int(n) % 20), &pool)] += float(n);
    for (const auto &[key, value] : map) sum += double(key.size()) * value;
    doubles.clear();
    std::pmr::list<float> floats(&pool);
    for (int n : ints) floats.push_back(float(n));
    for (float n : floats) sum += n;
    alignas(16) char buffer[256];
    std::pmr::monotonic_buffer_resource arena(buffer, sizeof buffer, &pool);
    if (i % 2) sum += *std::pmr::vector<long>({1, 2, 3}, &arena).begin();
    else sum += *std::pmr::vector<float>({1, 2, 3}, &arena).begin();
  }
  return tbaa_witness_reports() || sum < 0;
}
