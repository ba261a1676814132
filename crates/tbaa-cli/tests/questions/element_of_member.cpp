// Title: an element of an array that is a member
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <cstdio>
#include <vector>
struct table { int elems[3]; };
struct registry { std::vector<int> numbers; char byte; bool is_full = false; };
static table a, b;
int main() {
  static registry all;
  a.elems[0] = 1;
  b = a;
  all.numbers.push_back(b.elems[0]);
  all.is_full = true;
  registry copy = all;
  std::printf("%d %d\n", copy.numbers[0], copy.is_full);
}
