#include <stdlib.h>
void put(float *), set(int *, int);
int get(int *);
static long other[8];
long busy(int n) { for (int i = 0; i < 8; i++) other[i] += n; return other[3]; }
int main(void) {
  int *p = malloc(8);
  float *volatile same = (float *)p;
  set(p, 1);
  int before = get(p);
  put(same);
  return get(p) == before && busy(before);
}
