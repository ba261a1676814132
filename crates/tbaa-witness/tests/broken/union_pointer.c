/* Members of a union, by pointers to them. */
static union { int i; float f; } memory;
__attribute__((noinline)) static int both(int *i, float *f) {
  *i = 0;
  *f = 1; // first
  return *i; // second
}
int main(void) {
  int *volatile i = &memory.i;
  float *volatile f = &memory.f;
  return both(i, f) != 0x3f800000;
}
