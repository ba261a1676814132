// Title: a call cannot change a variable whose address it does not know yet, and a restrict parameter that is not passed on
// $ tbaa blocks FILE @later
// says: none blocked by a store or call
// $ tbaa blocks FILE @before
// says: call of @g, address_kept.c
// $ tbaa blocks FILE @turn
// says: call of @g, address_kept.c
// $ tbaa blocks FILE @kept
// says: none blocked by a store or call
// $ tbaa blocks FILE @only
// says: none blocked by a store or call
// $ tbaa blocks FILE @reads
// says: none blocked by a store or call
struct pair { int a[2]; int b; };
void g(void);
void use(struct pair *p);
int take(const struct pair *p) __attribute__((pure));
int later(int i) {
  struct pair p = {{i, i + 1}, 2};
  int x = p.a[i & 1];
  g();
  int y = p.a[i & 1];
  use(&p);
  return x + y;
}
int before(int i) {
  struct pair p;
  use(&p);
  int x = p.a[i & 1];
  g();
  return x + p.a[i & 1];
}
int turn(int n) {
  struct pair p = {{n, n + 1}, 2};
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += p.a[i & 1];
    g();
    s += p.a[i & 1];
    use(&p);
  }
  return s;
}
int kept(int *restrict p) {
  int x = *p;
  g();
  return x + *p;
}
__attribute__((noinline)) static void fill(int *to, int n) {
  for (int i = 0; i < n; i++) to[i] = i * i;
}
int only(int n) {
  int own[8], other[8];
  fill(own, 8);
  int x = own[n & 7];
  fill(other, n & 7);
  return x + own[n & 7] + other[n & 7];
}
int reads(int i) {
  struct pair p;
  use(&p);
  int x = p.a[i & 1];
  int y = take(&p);
  return x + y + p.a[i & 1];
}
