// Objects that take one another's place: placement new, variants, exceptions,
// containers.
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

double sum;

__attribute__((noinline)) void may_throw(int n) {
  int local[4];
  local[n % 4] = n;
  sum += local[n % 4];
  if (n % 3 == 0) throw std::runtime_error("three");
  if (n) may_throw(n - 1);
}

struct Shape {
  virtual double area() const = 0;
  virtual ~Shape() = default;
};
struct Square final : Shape {
  int side;
  explicit Square(int side) : side(side) {}
  double area() const override { return side * side; }
};
struct Circle final : Shape {
  float radius;
  explicit Circle(float radius) : radius(radius) {}
  double area() const override { return 3 * radius * radius; }
};

int main() {
  for (int i = 0; i < 50; i++) {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int j = 0; j < 5; j++)
      if (j % 2) shapes.push_back(std::make_unique<Square>(j));
      else shapes.push_back(std::make_unique<Circle>(j));
    for (const auto &shape : shapes) sum += shape->area();
    std::map<std::string, std::variant<int, float, std::string>> values;
    values["a"] = i;
    values["b"] = 2.5f;
    values["c"] = std::string("a string that is not short at all");
    for (const auto &[key, value] : values)
      std::visit([](const auto &it) { if constexpr (requires { it.size(); }) sum += it.size(); else sum += it; }, value);
    try {
      may_throw(i);
    } catch (const std::exception &error) {
      sum += std::string(error.what()).size();
    }
    std::optional<double> maybe;
    if (i % 2) maybe = i;
    sum += maybe.value_or(1);
  }
  return 0;
}
