// Title: the neighbour: std::byte
// Asked: May `std::byte` be part of an `unsigned`?
// Source: https://github.com/llvm/llvm-project/pull/200462
// Answer: Yes, of any object.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <cstddef>
#include <cstdio>
static unsigned word;
int main() {
  for (int i = 0; i < 4; i++) reinterpret_cast<std::byte *>(&word)[i] = std::byte(i);
  std::printf("%x\n", word);
}
