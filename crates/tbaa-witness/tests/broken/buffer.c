/* A message in a buffer of characters: two bytes of a number are written by their own type. */
#include <stdint.h>
static _Alignas(8) char buffer[64];
__attribute__((noinline)) static uint32_t pack(char *at, char *length) {
  *(uint32_t *)at = 0;
  *(uint16_t *)length = 7; // first
  return *(uint32_t *)at; // second
}
int main(void) {
  char *volatile at = buffer;
  return pack(at, at) != 7;
}
