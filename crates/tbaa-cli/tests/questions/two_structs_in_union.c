// Title: two members of a union, by pointers
// Asked: `a->d` and `b->d` are one member of a union. Why is it wrong at -O3?
// Source: https://github.com/llvm/llvm-project/issues/209450
// Answer: Pointers to members name no union. Pass a pointer to the union, or use memcpy.
// $ tbaa run FILE
// says: of "s1"
// says: of "s2"
// exit: 66
#include <stdio.h>
struct s1 { double d; }; struct s2 { double d; };
union u { struct s1 x; struct s2 y; };
__attribute__((noinline)) static double f(struct s1 *a, struct s2 *b) { a->d = 1.0; return b->d + 1.0; }
int main(void) { union u v; v.x.d = 0; printf("%g\n", f(&v.x, &v.y)); }
