// Two structs that begin alike, as members of a union: C lets their common members be read by either.
// right:
// wrong: --nominal struct.Int --nominal struct.Float
struct Int { int tag; int line; int value; };
struct Float { int tag; int line; float value; };
union Any { struct Int i; struct Float f; };
int printf(const char *, ...);
static __attribute__((noinline)) int lines(struct Int *i, struct Float *f) {
    i->line = 1;
    f->line = 2;
    return i->line;
}
int main(void) {
    union Any any = {{0, 0, 0}};
    printf("%d\n", lines(&any.i, &any.f));
}
