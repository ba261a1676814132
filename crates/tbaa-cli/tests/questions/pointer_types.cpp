// Title: pointers to two classes
// Asked: A pointer stored as `Link *` is read as `Node *`, with an old value. Why?
// Source: https://github.com/llvm/llvm-project/issues/122537
// Answer: Since clang 20 these are different types. `-fno-pointer-tbaa` turns this off.
// $ tbaa run FILE
// says: as "Link *"
// says: as "Node *"
// exit: 66
#include <cstdio>
struct Link { Link *next; };
struct Node { Node *next; };
static Link one;
__attribute__((noinline)) static Node *get(void *p) { return *static_cast<Node **>(p); }
int main() {
  Link *list = nullptr;
  Link **volatile p = &list;
  *p = &one;
  std::printf("%d\n", get(&list) != nullptr);
}
