// Title: the neighbour: a variable that lives through the loop may be loaded before it
// $ tbaa blocks FILE @f
// says: before the loop
// looped: -DBEFORE > -DAFTER
struct when { long seconds, parts; };
int now(struct when *);
void tick(void);
long f(int n) {
  long sum = 0;
  struct when t;
  now(&t);
#ifdef AFTER
  long s = t.seconds;
#else
#define s t.seconds
#endif
  for (int i = 0; i < n; i++) {
    tick();
    sum += s ^ i;
  }
  return sum + s;
}
