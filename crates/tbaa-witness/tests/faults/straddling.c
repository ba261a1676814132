/* Bytes that lie in two granules, and share one with what is read. */
static char memory[16] __attribute__((aligned(16)));
typedef int loose __attribute__((aligned(1)));
short sink;
__attribute__((noinline)) void set(loose *p) {
  *p = 7; // first
}
__attribute__((noinline)) short get(short *p) {
  return *p; // second
}
int main(void) {
  set((loose *)(memory + 5));
  sink = get((short *)(memory + 8));
  return 0;
}
