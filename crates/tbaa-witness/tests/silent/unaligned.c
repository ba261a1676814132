/* Numbers where C does not allow them, as x86 does: their bytes are parts of other cells. */
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void put(char *at) { *(int *)at = 99; }
__attribute__((noinline)) static int get(char *at) { return *(int *)at; }
__attribute__((noinline)) static short get_short(char *at) { return *(short *)at; }
__attribute__((noinline)) static void put_long(char *at) { *(long *)at = 7; }

int main(void) {
  char *block = malloc(256);
  memset(block, 0, 256);
  int sum = get(block);
  for (int i = 0; i < 12; i++)
    put(block + 8 * i);
  for (int i = 0; i < 12; i++) {
    put(block + 16 + 8 * i + 2);
    sum += get(block + 16 + 8 * i + 2);
  }
  char *other = malloc(256);
  for (int i = 0; i < 24; i++)
    put_long(other + 9 * i);
  char *third = malloc(64);
  memset(third, 0, 64);
  for (int i = 0; i < 60; i++)
    sum += get_short(third + i);
  return sum != 12 * 99;
}
