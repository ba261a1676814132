// Title: all loads of one place are told apart from what is blamed
// $ tbaa blocks FILE @twice --prove
// says: call of @note, equal_loads.c:14
// says: if what is blamed is to other memory: it is gone
// never: it stays
// $ tbaa blocks FILE @changed --prove
// never: it is gone
struct list { long len; long *first; };
void note(long);
long twice(struct list *l, int count) {
  if (!count)
    return 0;
  long len = l->len;
  note(len);
  if (len > 0)
    note(1);
  return len + l->len;
}
long changed(struct list *l, int count) {
  if (!count)
    return 0;
  long len = l->len;
  note(len);
  if (len > 0)
    l->len = count;
  return len + l->len;
}
