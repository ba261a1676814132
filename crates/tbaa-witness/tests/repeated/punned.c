/* A local variable that stays in its function is read as another type. */
int sink;
__attribute__((noinline)) int bits(float x) {
  float local = x; // first
  return *(int *)&local; // second
}
int main(void) {
  sink = bits(1);
  return 0;
}
