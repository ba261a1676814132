// Title: the neighbour: the call gets the parameter
// $ tbaa blocks FILE @f
// says: call of @find
// never: restrict
struct finder { int offset; int *son; int pos; };
int find(struct finder *m, int pos);
int f(struct finder *m, int *hash) {
  int pos = m->offset + m->pos;
  hash[0] = pos;
  int r = find(m, pos);
  return r + m->offset + m->pos;
}
