// Title: a line that is inlined is as hot in each function as the samples there
// $ printf ' 1 fill\n  FILE:12\n 2 user\n  FILE:12\n 3 user\n  FILE:12\n 4 main\n  FILE:12\n' >$OUT/p.perf
// $ tbaa blocks FILE @fill --profile $OUT/p.perf -- -O2 -fno-vectorize
// says: 50.0 % of all samples are at its line
// $ tbaa blocks FILE @user --profile $OUT/p.perf -- -O2 -fno-vectorize
// says: 75.0 % of all samples are at its line
// $ tbaa blocks FILE @cold --profile $OUT/p.perf -- -O2 -fno-vectorize
// says: no sample is at its line
struct vec { long *data, len; };
void fill(struct vec *v, long x) {
  for (long i = 0;
       i < v->len;
       i++)
    v->data[i] = x;
}
void user(struct vec *v) { fill(v, 0); }
void cold(struct vec *v) {
  for (long i = 0; i < v->len; i++)
    v->data[i] = 1;
}
