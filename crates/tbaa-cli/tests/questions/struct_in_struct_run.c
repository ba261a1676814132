// Title: a member that is a struct, through its own pointer
// Asked: TypeSanitizer warns of a struct within a struct. Is the program wrong?
// Source: https://github.com/llvm/llvm-project/issues/122517 https://github.com/llvm/llvm-project/issues/105960
// Answer: No: `opts->files.list` and `files->list` are one member.
// $ tbaa run FILE
// never: contradiction
// exit: 0
#include <stdio.h>
typedef struct { int len; char *list; } names;
typedef struct { names files; char command; } options;
static void init(names *n) { n->len = 0; n->list = 0; }
int main(void) {
  options o;
  init(&o.files);
  printf("%d\n", o.files.list == 0 && o.files.len == 0);
}
