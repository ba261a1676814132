// Objects of the C++ library, whose functions are known, in memory that was something else.
#include <cstdlib>
#include <iostream>
#include <locale>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

static volatile long ignored;

// Memory that was something else before.
__attribute__((noinline)) static void *used() {
  float *block = static_cast<float *>(std::malloc(1024));
  for (int i = 0; i < 256; i++)
    block[i] = 1.5f;
  return block;
}

int main() {
  std::stringstream on_stack("first line\nsecond 12\n"), *stream = &on_stack;
  auto *line = new (used()) std::string;
  while (std::getline(*stream, *line))
    ignored = ignored + static_cast<long>(line->size()) + (*line)[0];
  auto *copy = new (used()) std::string(*line);
  auto *text = new (used()) std::string("text that is longer than what a string has room for");
  ignored = copy->size() + text->size() + (*text)[0];
  stream->clear();
  stream->str("12 13");
  int one = 0, other = 0;
  *stream >> one >> other;
  ignored = one + other + stream->width() + stream->precision() + stream->rdstate();
  auto *place = new (used()) std::locale(stream->getloc());
  ignored = *place == std::locale::classic();
  place->~locale();
  // A constructor of the library writes what a virtual call reads.
  std::exception *error = new (used()) std::runtime_error("text");
  ignored = error->what()[0];
  error->~exception();
  copy->~basic_string();
  text->~basic_string();
  line->~basic_string();
}
