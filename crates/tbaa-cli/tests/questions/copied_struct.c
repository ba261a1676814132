// Title: LLVM does not read what !tbaa.struct says of a copy
// $ tbaa blocks FILE @all
// says: @all: 3 loads, 2 cannot be removed
// says: this call has only !tbaa.struct, which LLVM's alias analysis does not read
// says: assign a struct's members one by one
// $ tbaa blocks FILE @members
// says: @members: 5 loads, none blocked by a store or call
// $ tbaa blocks FILE @apart
// says: @apart: 1 load, none blocked by a store or call
struct three { int x, y, z; };
struct vec { struct three *data; long len; };
void all(struct vec *v, const struct three *s) {
  for (long i = 0; i < v->len; ++i) v->data[i] = *s;
}
void members(struct vec *v, const struct three *s) {
  for (long i = 0; i < v->len; ++i) {
    v->data[i].x = s->x;
    v->data[i].y = s->y;
    v->data[i].z = s->z;
  }
}
void apart(struct vec *restrict v, struct three *d, const struct three *s) {
  for (long i = 0; i < v->len; ++i) d[i] = *s;
}
