// A pool of the C++ library, which is not checked: what it can reach is forgotten.
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <vector>

double sum;

int main() {
  std::pmr::unsynchronized_pool_resource pool;
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
  return sum < 0;
}
