/* More combinations of writers of 4 bytes than there are numbers for; few, if there is an argument. */
#include <stdlib.h>
#define W(n) static void w##n(short *p) { *p = n; }
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X, n) \
  TEN(X, n##0) TEN(X, n##1) TEN(X, n##2) TEN(X, n##3) TEN(X, n##4) \
  TEN(X, n##5) TEN(X, n##6) TEN(X, n##7) TEN(X, n##8) TEN(X, n##9)
#define ALL(X) HUNDRED(X, 1) HUNDRED(X, 2) HUNDRED(X, 3) HUNDRED(X, 4) HUNDRED(X, 5) HUNDRED(X, 6)
ALL(W)
#define NAME(n) w##n,
static void (*volatile w[])(short *) = {ALL(NAME)};
int main(int n, char **v) {
  short *p = malloc(4);
  int most = n > 1 ? 100 : sizeof w / sizeof *w;
  for (int i = 0; i < most; i++)
    for (int j = 0; j < most; j++) w[i](p), w[j](p + 1);
  return 0;
}
