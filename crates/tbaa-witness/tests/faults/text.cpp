// An object copied character by character: its vtable pointer is none of the characters.
#include <cstdlib>
#include <cstring>
struct Shape {
  virtual int sides() { return 4; }
};
__attribute__((noinline)) void copy(volatile char *to, const char *from) {
  for (unsigned i = 0; i < sizeof(Shape); i++)
    to[i] = from[i]; // first
}
__attribute__((noinline)) int sides(Shape *shape) {
  return shape->sides(); // second
}
int main() {
  Shape shape;
  char bytes[sizeof(Shape)];
  std::memcpy(bytes, static_cast<void *>(&shape), sizeof bytes);
  char *to = static_cast<char *>(std::malloc(sizeof(Shape)));
  copy(to, bytes);
  return sides(reinterpret_cast<Shape *>(to)) - 4;
}
