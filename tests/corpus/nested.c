/* Structs in structs, four levels deep: a scene of bodies. The same scalar
   types occur at many depths and offsets. */

struct vec {
  float x, y, z;
};

struct box {
  struct vec low, high;
};

struct shape {
  int kind;
  struct box bounds;
  double density;
};

struct body {
  long id;
  struct shape shape;
  struct vec velocity;
  short layer;
};

struct scene {
  struct body hero, villain;
  struct box world;
  int ticks;
};

float width(const struct box *b) { return b->high.x - b->low.x; }

double mass(const struct shape *s) {
  float dx = s->bounds.high.x - s->bounds.low.x;
  float dy = s->bounds.high.y - s->bounds.low.y;
  float dz = s->bounds.high.z - s->bounds.low.z;
  return s->density * dx * dy * dz;
}

void move(struct body *b, float step) {
  b->shape.bounds.low.x += step * b->velocity.x;
  b->shape.bounds.low.y += step * b->velocity.y;
  b->shape.bounds.low.z += step * b->velocity.z;
  b->shape.bounds.high.x += step * b->velocity.x;
  b->shape.bounds.high.y += step * b->velocity.y;
  b->shape.bounds.high.z += step * b->velocity.z;
}

int touches(const struct scene *s) {
  return s->hero.shape.bounds.low.x <= s->villain.shape.bounds.high.x &&
         s->villain.shape.bounds.low.x <= s->hero.shape.bounds.high.x &&
         s->hero.layer == s->villain.layer;
}

void tick(struct scene *s, const double *densities, short *layers) {
  s->ticks++;
  s->hero.shape.density = densities[0];
  s->villain.shape.density = densities[1];
  s->hero.layer = layers[0];
  s->villain.layer = layers[1];
  s->hero.id = s->villain.id + 1;
  s->hero.shape.kind = s->ticks & 3;
  s->villain.velocity.z = -s->hero.velocity.z;
  if (s->world.high.y < s->hero.shape.bounds.high.y)
    s->hero.velocity.y = 0;
}

void clamp(struct vec *v, const float *limit, const int *enabled) {
  if (*enabled) {
    v->x = v->x > *limit ? *limit : v->x;
    v->y = v->y > *limit ? *limit : v->y;
    v->z = v->z > *limit ? *limit : v->z;
  }
}
