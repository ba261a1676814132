// Title: restrict separates a parameter from a call that does not get it
// $ tbaa blocks FILE @f -- -DR=
// says: call of @find, call_and_restrict.c:11: it may write anything
// says: declare parameter m restrict
// loads: -DR= > -DR=restrict
struct finder { int offset; int *son; int pos; };
int find(int *son, int pos);
int f(struct finder *R m, int *hash) {
  int pos = m->offset + m->pos;
  hash[0] = pos;
  int r = find(m->son, pos);
  return r + m->offset + m->pos;
}
