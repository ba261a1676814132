// Title: a buffer that is written through one packed struct and read through another
// Asked: Code at -O2 drops what msgpuck stores into a buffer. Why?
// Source: https://github.com/tarantool/tarantool/issues/11124 https://github.com/llvm/llvm-project/issues/126370
// Answer: The buffer is accessed through members of different structs. Use memcpy.
// $ tbaa run FILE
// says: of "as_u32"
// exit: 66
#include <stdint.h>
#include <stdio.h>
struct __attribute__((packed)) as_u32 { uint32_t v; };
struct __attribute__((packed)) as_i32 { int32_t v; };
static char buffer[8];
int main(void) {
  ((struct as_u32 *)(buffer + 1))->v = 7;
  printf("%d\n", ((struct as_i32 *)(buffer + 1))->v);
}
