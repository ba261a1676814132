// Title: a store on some ways of a loop keeps the load there
// $ tbaa blocks FILE @mark
// says: load vec.len (long at 8 of vec), some_ways.c:12
// says: store omnipotent char, some_ways.c:13: a char access may be to any object
// says: declare parameter v restrict
// $ tbaa blocks FILE @apart
// says: none blocked by a store or call
// $ tbaa blocks FILE @mark --prove
// says: if what is blamed is to other memory: it is gone
struct vec { float *data; long len; };
void mark(struct vec *v, char *seen, const int *keep) {
  for (long i = 0; i < v->len; i++)
    if (keep[i]) seen[i] = 1;
}
void apart(struct vec *v, float *seen, const int *keep) {
  for (long i = 0; i < v->len; i++)
    if (keep[i]) seen[i] = 1;
}
