// Title: the neighbour: a value that changes its type as the library provides
// Asked: TypeSanitizer reports `v = 3.5` of a `std::variant<int, double>` that held 1. Why?
// Source: https://github.com/llvm/llvm-project/issues/208647 https://github.com/llvm/llvm-project/issues/208646
// Answer: A write over a write gives memory a new type, as C++ allows. `tbaa run` is silent.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <cstdio>
#include <optional>
#include <string>
#include <variant>
static std::optional<std::string> text = std::nullopt;
int main() {
  std::variant<int, double, std::string> v;
  v = 1;
  std::printf("%d\n", std::get<int>(v));
  v = 3.5;
  std::printf("%g\n", std::get<double>(v));
  v = std::string("a text that is longer than what fits into the object");
  text = std::get<std::string>(v);
  v = 2;
  std::printf("%d %zu\n", std::get<int>(v), text->size());
}
