/* Unions: plain, in structs, of structs, with arrays, anonymous, nested. */

union number {
  int i;
  float f;
  double d;
};

struct token {
  int kind;
  union number value;
  short line;
};

union event {
  struct {
    short kind, device;
  } any;
  struct {
    short kind, device;
    int key;
  } press;
  struct {
    short kind, device;
    float x, y;
  } motion;
};

struct variant {
  unsigned char tag;
  union {
    long integer;
    double real;
    const char *text;
    struct {
      int low;
      float high;
    };
  };
  int uses;
};

union block {
  int words[8];
  struct {
    float head;
    double body[3];
  } record;
  unsigned char bytes[32];
};

struct arena {
  union block blocks[4];
  union {
    struct arena *next;
    long free;
  } link;
};

int read_int(const union number *n) { return n->i; }
void write_float(union number *n, float f) { n->f = f; }

int pun(union number *n, int *i, double *d) {
  n->f = 1.5f;
  *d = n->d;
  *i = n->i;
  return n->i;
}

double token_value(struct token *t, float *seen, short *lines) {
  *lines = t->line;
  if (t->kind == 0)
    return t->value.i;
  *seen = t->value.f;
  t->value.d = *seen;
  return t->value.d;
}

float dispatch(union event *e, int *keys, float *path) {
  e->any.device++;
  if (e->any.kind == 1) {
    *keys = e->press.key;
    return e->press.device;
  }
  path[0] = e->motion.x;
  path[1] = e->motion.y;
  return e->motion.kind;
}

double convert(struct variant *v, long *l, double *d) {
  v->uses++;
  if (v->tag == 0)
    *l = v->integer;
  else if (v->tag == 1)
    *d = v->real;
  else if (v->tag == 2)
    return v->text[0];
  v->low = 3;
  v->high = 4;
  return v->high + v->low;
}

int sum(union block *b, int n) {
  int total = b->bytes[31];
  for (int i = 0; i < n; i++)
    total += b->words[i];
  b->record.head = (float)total;
  b->record.body[1] = b->record.body[2] + total;
  return b->words[0];
}

long step(struct arena *a, int i) {
  a->blocks[i].words[3] = a->blocks[i].bytes[2];
  a->blocks[1].record.body[0] = 2;
  if (a->link.free & 1)
    return a->link.free;
  return a->link.next->blocks[0].words[0];
}
