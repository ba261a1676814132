// Title: the neighbour: std::byte
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
