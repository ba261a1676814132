// Characters beside numbers, and written over, where a vtable pointer is read later.
#include <cstdlib>
#include <cstring>
struct Shape {
  virtual int sides() { return 4; }
};
struct Mixed {
  short number;
  char text[2];
};
__attribute__((noinline)) int sides(Shape *shape) { return shape->sides(); }
__attribute__((noinline)) void put(volatile char *to, char what) { *to = what; }
__attribute__((noinline)) void put_short(short *to, short what) { *to = what; }
__attribute__((noinline)) void overwrite(void *to, const void *from, unsigned long size) { std::memcpy(to, from, size); }
int main() {
  Shape shape;
  char *to = static_cast<char *>(std::malloc(sizeof(Shape)));
  for (unsigned at = 0; at < sizeof(Shape); at++)
    for (unsigned size = 1; size <= 3; size++) {
      // One character, and its granule in part or whole, again of nothing known.
      overwrite(to, &shape, sizeof(Shape));
      if (at + size > sizeof(Shape)) continue;
      put(to + at, to[at]);
      overwrite(to + at, reinterpret_cast<char *>(&shape) + at, size);
      if (sides(reinterpret_cast<Shape *>(to)) != 4) return 1;
    }
  Mixed *mixed = static_cast<Mixed *>(std::malloc(sizeof(Mixed)));
  put(mixed->text, 'a');
  put_short(&mixed->number, 7);
  put(mixed->text + 1, 'b');
  return mixed->number != 7 || mixed->text[0] + mixed->text[1] != 'a' + 'b';
}
