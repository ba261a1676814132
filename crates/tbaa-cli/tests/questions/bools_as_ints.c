// Title: a global struct of bools as one of ints
// Asked: A struct of two `bool`s is passed as one of two `int`s. TypeSanitizer is silent at -O1.
// Source: https://github.com/llvm/llvm-project/issues/120855
// Answer: The `int` that is read was written as `_Bool`s. `tbaa run` says so at every level.
// $ tbaa run FILE
// says: as "_Bool"
// says: as "int"
// exit: 66
// $ tbaa run FILE --flags -O2
// says: as "_Bool"
// exit: 66
#include <stdbool.h>
#include <stdio.h>
struct flags { bool a, b, c, d; };
struct numbers { int a; };
static struct flags flags;
static int get(struct numbers *n) { return n->a; }
int main(void) {
  flags.a = flags.d = true;
  printf("%x\n", get((struct numbers *)&flags));
}
