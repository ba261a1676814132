// Title: errno
// Asked: Why is an `int` loaded again after `sqrt`?
// Source: https://github.com/llvm/llvm-project/pull/160458
// Answer: `sqrt` may set errno, an `int`. -fno-math-errno helps.
// $ tbaa blocks FILE @f
// says: compile with -fno-math-errno
// never: noalias
// loads: -DBEFORE > -fno-math-errno
double sqrt(double);
double f(int *n, double x) {
  double s = 0;
  for (int i = 0; i < *n; i++) s += sqrt(x + i);
  return s;
}
