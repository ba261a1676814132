/* A local variable, through a pointer of another type. */
float sink;
__attribute__((noinline)) float get(float *p) {
  return *p; // second
}
__attribute__((noinline)) void keep(int *p, int *from) {
  *p = *from; // first
}
int main(void) {
  int local = 4, other = 5;
  keep(&local, &other);
  sink = get((float *)&local);
  return 0;
}
