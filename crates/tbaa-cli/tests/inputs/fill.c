struct vec { long *data; long len, cap; };

/* Why is v->len read again for each element? */
void fill(struct vec *v, long x) {
  for (long i = 0; i < v->len; i++)
    v->data[i] = x;
}

union word { int i; float f; };
struct cell { short tag; union word u; };

/* Why is kinds[c->tag] read again? */
int twice(struct cell *c, short *kinds) {
  int first = kinds[c->tag];
  c->u.f = 1.0f;
  return first + kinds[c->tag];
}
