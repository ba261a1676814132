// Title: a byte type of one's own
// Asked: A sort over an `enum class byte : unsigned char` reads old values. Why?
// Source: https://github.com/llvm/llvm-project/pull/200462
// Answer: Only `char`, `unsigned char` and `std::byte` may be part of any object. Declare the enum may_alias.
// $ tbaa run FILE
// says: as "byte"
// exit: 66
#include <cstdio>
enum class byte : unsigned char {};
static unsigned word;
int main() {
  for (int i = 0; i < 4; i++) reinterpret_cast<byte *>(&word)[i] = byte(i);
  std::printf("%x\n", word);
}
