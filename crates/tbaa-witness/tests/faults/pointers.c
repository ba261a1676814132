/* A pointer to int, read as a pointer to float. */
static void *memory;
float *sink;
static int target;
__attribute__((noinline)) void set(int **p) {
  *p = &target; // first
}
__attribute__((noinline)) float *get(float **p) {
  return *p; // second
}
int main(void) {
  set((int **)&memory);
  sink = get((float **)&memory);
  return 0;
}
