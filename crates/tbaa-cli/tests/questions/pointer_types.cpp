// Title: pointers to two classes
// Asked: A pointer is stored as `Link *` and read as `Node *`, and an old value comes back. Why?
// Source: https://github.com/llvm/llvm-project/issues/122537
// Answer: Since clang 20 pointers to different types are different types. `-fno-pointer-tbaa` turns this off.
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
