// Pointers into objects: to an inner struct, to a member behind an index, to the object around it.
// right:
struct Inner { short a; float b; };
struct Outer { long n; struct Inner one, many[3]; struct Inner *last; };
int printf(const char *, ...);
#define OUTER(p) ((struct Outer *)((char *)(p) - __builtin_offsetof(struct Outer, one)))
static __attribute__((noinline)) float f(struct Outer *o, struct Inner *p, struct Inner *q, int i) {
    o->one.b = 1;
    p->b = 2;
    float sum = o->one.b;
    o->many[i].b = 3;
    q->b = 4;
    sum = sum * 10 + o->many[i].b;
    o->n = 5;
    OUTER(p)->n = 6;
    p = i ? &o->many[0] : &o->one;
    p->a = 7;
    o->one.a = 8;
    return sum * 100 + o->n * 10 + p->a;
}
int main(int n, char **arguments) {
    struct Outer o = {0};
    printf("%g\n", f(&o, &o.one, &o.many[n], n));
    printf("%g\n", f(&o, &o.one, &o.many[0], 0));
}
