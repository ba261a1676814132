/* The upper half of an int, read as a short: two bytes of four. */
static int word;
short sink;
__attribute__((noinline)) void set(int *p) {
  *p = 0x10002; // first
}
__attribute__((noinline)) short half(short *p) {
  return p[1]; // second
}
int main(void) {
  set(&word);
  sink = half((short *)&word);
  return 0;
}
