// Title: library functions have their names in C
// $ tbaa blocks FILE
// says: memset
// never: @llvm.memset
void *memset(void *, int, unsigned long);
int f(int *n, char *p) {
  int a = *n;
  memset(p, 0, 100);
  return a + *n;
}
