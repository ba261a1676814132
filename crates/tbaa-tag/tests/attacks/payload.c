// The members of a variant stand in the object itself, and are also accessed as a struct of their own.
// wrong:
// right: --opaque struct.Payload
struct Object { long header; int count; float weight; };
struct Payload { int count; float weight; };
int printf(const char *, ...);
static __attribute__((noinline)) int f(struct Object *o, struct Payload *p) {
    o->count = 1;
    p->count = 2;
    return o->count;
}
int main(void) {
    struct Object o = {0, 0, 0};
    printf("%d\n", f(&o, (struct Payload *)((char *)&o + 8)));
}
