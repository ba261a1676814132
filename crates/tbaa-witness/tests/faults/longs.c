/* long and long long have one size and are two types. */
static long memory;
long long sink;
__attribute__((noinline)) void set(long *p) {
  *p = 7; // first
}
__attribute__((noinline)) long long get(long long *p) {
  return *p; // second
}
int main(void) {
  set(&memory);
  sink = get((long long *)&memory);
  return 0;
}
