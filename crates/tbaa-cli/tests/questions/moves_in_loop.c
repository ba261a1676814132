// Title: a load that moves within its loop is done as often as before
// $ tbaa blocks FILE @fill --prove
// says: if what is blamed is to other memory: it leaves the loop
// never: in this module as it is
struct coord { int x, y; };
void fill(struct coord *to, const struct coord *from, const long *bound, int n) {
  for (int i = 0; i < n; ++i)
    if (i < *bound)
      to[i] = *from;
}
