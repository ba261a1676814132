// Title: an element of an array that is a member
// Asked: TypeSanitizer reports `a.elems[0] = 1` of a global struct with `int elems[3]`. Is the program wrong?
// Source: https://github.com/llvm/llvm-project/issues/210643 https://github.com/llvm/llvm-project/issues/208655
// Answer: No: an element of an array member is accessed as declared.
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
