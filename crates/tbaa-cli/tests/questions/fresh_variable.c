// Title: a variable that lives in the loop cannot be loaded before it
// $ tbaa blocks FILE @f
// says: nothing blocks a load here
// never: before the loop
// never: not optimised
// $ tbaa blocks FILE @through_global
// says: nothing blocks a load here
struct when { long seconds, parts; };
int now(struct when *);
long f(int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    struct when t;
    now(&t);
    sum += t.seconds + t.parts;
  }
  return sum;
}
struct when *shared;
void fill_shared(void);
long through_global(int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    struct when t;
    shared = &t;
    fill_shared();
    sum += t.seconds + t.parts;
  }
  return sum;
}
