/* qsort moves elements of two types, and calls the comparison in between. */
#include <stdlib.h>
#include <string.h>
struct whole { int kind, value; };
struct real { int kind; float value; };
static float value(const void *of) {
  int kind;
  memcpy(&kind, of, sizeof kind);
  return kind ? ((const struct real *)of)->value : ((const struct whole *)of)->value;
}
static int compare(const void *a, const void *b) {
  return (value(a) > value(b)) - (value(a) < value(b));
}
int main(void) {
  char *all = malloc(8 * 16);
  for (int i = 0; i < 16; i++) {
    void *at = all + 8 * i;
    if (i * 7 % 3) *(struct whole *)at = (struct whole){0, 16 - i};
    else *(struct real *)at = (struct real){1, 16.5f - i};
  }
  qsort(all, 16, 8, compare);
  return value(all) == 1.5f ? 0 : 1;
}
