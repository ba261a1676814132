// Title: a function that only reads
// $ tbaa blocks FILE @f
// says: declare get __attribute__((pure)) if it only reads memory
// never: noalias
// loads: -DBEFORE > -DAFTER
#ifdef AFTER
__attribute__((pure))
#endif
int get(int);
int f(int *n) {
  int s = 0;
  for (int i = 0; i < *n; i++) s += get(i);
  return s;
}
