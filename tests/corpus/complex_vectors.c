/* _Complex numbers and vector types, alone and in structs and arrays. */

typedef float float4 __attribute__((vector_size(16)));
typedef int int4 __attribute__((vector_size(16)));
typedef double double2 __attribute__((vector_size(16)));

struct signal {
  _Complex float sample;
  _Complex double filter[4];
  float gain;
  double phase;
};

struct lane {
  float4 position;
  int4 mask;
  double2 pair;
  float scalars[4];
  int index;
};

union quad {
  float4 v;
  float f[4];
  int4 i;
};

_Complex float mix(struct signal *s, const _Complex float *z, float *peak) {
  s->sample = s->sample * *z + s->gain;
  __real__ s->sample = *peak;
  *peak = __imag__ *z;
  return s->sample;
}

_Complex double fir(struct signal *s, const _Complex double *in, double *out) {
  _Complex double sum = 0;
  for (int i = 0; i < 4; i++)
    sum += s->filter[i] * in[i];
  s->phase += __real__ sum;
  *out = __imag__ sum;
  s->filter[0] = sum;
  return sum;
}

_Complex int gauss(_Complex int *a, int *norm) {
  *norm = __real__ *a * __real__ *a + __imag__ *a * __imag__ *a;
  __imag__ *a = -__imag__ *a;
  return *a;
}

void advance(struct lane *l, const float4 *step, float *trace, int *hits) {
  l->position += *step;
  l->mask = l->position > *step;
  l->scalars[2] = l->position[1];
  l->pair[0] += l->scalars[3];
  *trace = l->pair[1] > 0 ? l->scalars[0] : 0;
  *hits += l->mask[0];
  l->index++;
}

float horizontal(union quad *q, const int *sign) {
  q->i ^= *sign;
  q->v[0] = q->f[1];
  return q->f[0] + q->f[2] + q->v[3];
}

void add(float4 *out, const float *in, const int4 *shuffle, int n) {
  for (int i = 0; i < n; i++) {
    float4 v = {in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]};
    out[i] = __builtin_shufflevector(v, v, 3, 2, 1, 0);
    if (shuffle[i][0])
      out[i] += v;
  }
}

double dot(const double2 *a, const double *b, long n) {
  double2 sum = {0, 0};
  for (long i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum[0] + sum[1];
}
