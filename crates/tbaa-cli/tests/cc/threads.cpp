#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static int depth(int n) {
  std::string text(n, 'x');
  if (n == 40) throw std::runtime_error(text);
  return depth(n + 1) + int(text.size());
}
int main() {
  std::vector<std::thread> threads;
  std::vector<int> sums(4);
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&sums, i] {
      std::map<std::string, double> map;
      for (int k = 0; k < 500; k++) map[std::to_string(k % 50)] += k;
      try {
        depth(i);
      } catch (const std::exception &e) {
        sums[i] = int(map.size()) + e.what()[0];
      }
    });
  for (auto &thread : threads) thread.join();
  return sums[0] + sums[3] == 2 * (50 + 'x') ? 0 : 1;
}
