// Title: code that is not optimised is said to be so
// $ tbaa blocks FILE @f -- -O0
// says: this code is not optimised
int f(int *p) {
  int a = *p;
  return a + *p;
}
