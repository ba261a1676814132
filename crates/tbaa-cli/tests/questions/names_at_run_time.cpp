// Title: C++ names at run time are those of the source, in the reason and in the summary too
// $ tbaa run FILE
// exit: 66
// says: 8 bytes as "Link *" at 0 of "S"
// says: in f(S*, S*), names_at_run_time.cpp:
// never: _Z
// $ TBAA_WITNESS=rules=union tbaa run FILE
// exit: 66
// says: from S
// says: a: field 0 at 0: Link *
// never: _Z
// $ echo 'fun:f(S*, S*)' >$OUT/of_f; echo 'fun:_Z1gP1SP4Link' >>$OUT/of_f
// $ TBAA_WITNESS=suppressions=$OUT/of_f tbaa run FILE
// never: contradiction
// $ tbaa explain FILE S.p S.q --rules union
// says: from S
// says: a: field 0 at 0: Link *
// says: in S, a touches what starts at 0
// $ tbaa blocks FILE '@W::turn()'
// says: @W::turn():4 load W.n
// $ tbaa blocks FILE '@W::turn():4'
// says: W.n
#include <cstdlib>
struct Link { Link *next; long v; };
struct Pt { int x; };
struct S { Link *p; Pt *q; Link l; };
typedef struct { int n; int *to; void turn(); } W;
void W::turn() { for (int i = 0; i < n; i++) to[i] = 1; }
__attribute__((noinline)) long f(S *s, S *t) {
  s->p = 0;
  return t->q != 0;
}
__attribute__((noinline)) long g(S *s, Link *t) {
  s->l.v = 0;
  return t->next != 0;
}
int main() {
  char *p = (char *)calloc(2, 32);
  return f((S *)p, (S *)(p - 8)) + g((S *)p, (Link *)(p + 24));
}
