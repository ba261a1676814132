// Title: a store of what was loaded changes nothing
// $ tbaa blocks FILE @f
// says: nothing blocks a load here
void f(long *m, long *q, long n) {
  for (long i = 0; i < n; i++) q[i] = m[3];
}
