// Title: LLVM knows that a pointer from memory leads to no restrict parameter
// $ tbaa blocks FILE @f
// says: nothing blocks a load here
struct vec { long *data, len; };
void f(struct vec *restrict v) {
  for (long i = 0; i < v->len; i++) v->data[i] = 0;
}
