// Title: what tags separate, what one array does to itself, and what no type changes: nothing is said of these loops
// $ tbaa blocks FILE @apart --prove
// never: vectorise
// $ tbaa blocks FILE @itself --prove
// never: vectorise
// $ tbaa blocks FILE @shifted --prove
// never: vectorise
// $ tbaa blocks FILE @scatter --prove
// never: vectorise
// $ tbaa blocks FILE @called --prove
// never: vectorise
void apart(float *a, const int *b, long n) {
  for (long i = 0; i < n; i++) a[i] = b[i] * 2;
}
void itself(float *a, long n) {
  float *p = a;
  for (long i = 1; i < n; i++, p++) p[1] = p[0] * 2;
}
void shifted(float *a, const float *b, long n) {
  float *p = a;
  for (long i = 1; i < n; i++, p++) p[1] = p[0] * b[i];
}
void scatter(float *a, const int *to, const float *b, long n) {
  for (long i = 0; i < n; i++) a[to[i]] = b[i];
}
void g(void);
void called(float *a, const float *b, long n) {
  for (long i = 0; i < n; i++) { a[i] = b[i]; g(); }
}
