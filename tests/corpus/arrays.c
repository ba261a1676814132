/* Arrays of structs, structs of arrays, several dimensions, flexible ends. */

struct particle {
  float position[3];
  int charge;
  double weight;
};

struct cloud {
  int count;
  struct particle particles[16];
  short histogram[4][8];
  long total;
};

struct columns {
  float x[64];
  float y[64];
  int flags[64];
  unsigned char mask[64];
};

struct row {
  char name[8];
  short cells[3][5];
};

struct sheet {
  struct row rows[4][2];
  unsigned used;
};

struct packet {
  unsigned short length;
  unsigned char kind;
  int payload[];
};

struct pair_list {
  long size;
  struct {
    int key;
    float value;
  } entries[];
};

float energy(const struct cloud *c) {
  float sum = 0;
  for (int i = 0; i < c->count; i++)
    sum += c->particles[i].position[1] * c->particles[i].charge *
           (float)c->particles[i].weight;
  return sum;
}

void count_cell(struct cloud *c, int i, int j) {
  c->histogram[i][j]++;
  c->total += c->histogram[i][j];
}

void scale(struct columns *s, int n) {
  for (int i = 0; i < n; i++) {
    s->x[i] *= s->y[i];
    s->flags[i] |= s->mask[i];
  }
}

int fill(struct sheet *s, int r, int c, short value) {
  s->rows[r][1].cells[c][2] = value;
  s->rows[0][c].name[r] = 'x';
  s->rows[3][0].cells[0][0] = s->rows[r][c].cells[2][4];
  return (int)++s->used;
}

int checksum(struct packet *p, int *steps) {
  int sum = p->kind;
  for (int i = 0; i < p->length; i++) {
    sum += p->payload[i];
    ++*steps;
  }
  p->payload[0] = sum;
  return sum;
}

float lookup(struct pair_list *l, int key) {
  for (long i = 0; i < l->size; i++)
    if (l->entries[i].key == key)
      return l->entries[i].value;
  return 0;
}

void multiply(double (*out)[4], const double (*a)[4], const float (*b)[4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      out[i][j] = 0;
      for (int k = 0; k < 4; k++)
        out[i][j] += a[i][k] * b[k][j];
    }
}

int plane(int cube[3][4][5], short *depth) { return cube[*depth][1][2]++; }
