/* Bit-fields beside each other, beside plain fields, zero-width, in unions. */

struct flags {
  unsigned ready : 1;
  unsigned mode : 3;
  int level : 12;
  unsigned : 0;
  unsigned late : 5;
  short plain;
};

struct header {
  unsigned char version : 4, length : 4;
  unsigned char service;
  unsigned short size;
  unsigned short reserved : 1, dont : 1, more : 1, offset : 13;
  long stamp : 40;
  long rest : 24;
};

struct mixed {
  char first;
  int bits : 24;
  float weight;
  _Bool on : 1;
  _Bool off : 1;
  double value;
  unsigned long long wide : 51;
  unsigned char tail;
};

union word {
  unsigned raw;
  struct {
    unsigned low : 16, high : 16;
  } half;
  struct {
    unsigned sign : 1, exponent : 8, mantissa : 23;
  } real;
  float value;
};

struct table {
  struct flags rows[4];
  union word words[2];
  int count : 7;
  int limit;
};

int poll(struct flags *f, short *out, unsigned *masks) {
  f->ready = 0;
  f->mode = (unsigned)(f->mode + 1);
  f->level += 3;
  f->late = masks[0];
  *out = f->plain;
  f->plain = 7;
  return f->ready + f->level;
}

unsigned parse(struct header *h, unsigned char *bytes, unsigned short *size) {
  *bytes = h->service;
  h->version = 4;
  h->length = *bytes;
  *size = h->size;
  h->more = 0;
  h->offset = *size;
  h->stamp += 1;
  h->rest = h->stamp;
  return h->offset + h->length;
}

double blend(struct mixed *m, float *w, double *v) {
  m->bits = m->first;
  m->weight += *w;
  m->on = m->off;
  m->value = *v;
  m->wide = m->tail;
  m->tail = 1;
  *v = m->bits;
  return m->value + m->weight;
}

float classify(union word *w, unsigned *raw) {
  *raw = w->raw;
  w->half.low = w->half.high;
  if (w->real.exponent == 255)
    w->real.mantissa = 0;
  return w->value;
}

int scan(struct table *t, int i) {
  t->rows[i].level = t->limit;
  t->words[1].half.high = t->rows[3].late;
  t->count++;
  t->limit = t->rows[0].plain;
  return t->count;
}
