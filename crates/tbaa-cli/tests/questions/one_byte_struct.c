// Title: a struct of one byte
// Asked: Why is `v->size` loaded again after `v->data[v->size] = (struct byte){x}`?
// Source: https://github.com/llvm/llvm-project/pull/198590 https://github.com/llvm/llvm-project/issues/53082
// Answer: clang tags the assignment of the struct as `char`. Assign its member.
// $ tbaa blocks FILE @f
// says: store omnipotent char
// says: If the byte is the one member of a struct, assign the member, not the struct
// loads: -DBEFORE > -DAFTER
struct byte { char b; };
struct vec { struct byte *data; int size; };
static void add(struct vec *v, char x) {
#ifdef AFTER
  v->data[v->size].b = x;
#else
  v->data[v->size] = (struct byte){x};
#endif
  v->size += 1;
}
void f(struct vec *v) { add(v, 1); add(v, 2); add(v, 3); }
