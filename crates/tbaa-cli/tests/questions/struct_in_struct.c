// Title: the neighbour: a struct within a struct is one type's member
// $ tbaa lint FILE
// never: error
struct header { int kind; long size; };
struct packet { struct header h; char data[8]; };
long total(struct packet *q) {
  struct header *h = &q->h;
  q->h.size = 5;
  h->size = 6;
  return q->h.size;
}
