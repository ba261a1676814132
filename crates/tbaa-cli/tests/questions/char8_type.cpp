// Title: bytes that alias nothing else
// Asked: `UInt8` loops are slow, as it is `unsigned char`. Which byte type aliases nothing?
// Source: https://github.com/ClickHouse/ClickHouse/pull/9304
// Answer: `char8_t`, and an enum over `unsigned char`. `uint8_t` and `std::byte` do.
// $ tbaa blocks FILE -- -std=c++20
// says: char8_t or an enum over unsigned char
// loads: -std=c++20 > -std=c++20 -DAFTER
// loads: -std=c++20 > -std=c++20 -DENUM
#ifdef AFTER
typedef char8_t byte;
#elif defined ENUM
enum byte : unsigned char {};
#else
typedef unsigned char byte;
#endif
struct vec { long len; };
extern "C" void f(vec *v, byte *d, byte x) {
  for (long i = 0; i < v->len; i++) d[i] = x;
}
