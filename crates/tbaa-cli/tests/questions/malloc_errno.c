// Title: malloc sets errno
// Asked: clang prints errno=0 after a `malloc` that fails. May it?
// Source: https://github.com/llvm/llvm-project/issues/114772 https://github.com/llvm/llvm-project/issues/63142
// Answer: It may not: clang 22 assumes that malloc writes nothing. Fixed after 22.
// $ tbaa blocks FILE @f
// says: @f: 0 loads, none blocked by a store or call
#include <stdlib.h>
int f(int *p, void **out) {
  int e = *p;
  *out = malloc(100);
  return *p - e;
}
