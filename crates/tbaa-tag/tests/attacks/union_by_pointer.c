// A union of structs behind a pointer: no function shows that its members overlap.
// wrong:
// right: --union struct.Int,struct.Float
// right: --opaque struct.Int
struct Int { int value; };
struct Float { float value; };
union Any { struct Int i; struct Float f; };
int printf(const char *, ...);
static void set(union Any *any, float value) { any->f.value = value; }
static int get(union Any *any) { return any->i.value; }
static __attribute__((noinline)) int f(union Any *a, union Any *b) {
    set(b, 2);
    int bits = get(a);
    set(b, 1);
    return bits == get(a);
}
int main(void) {
    union Any any = {{0}};
    printf("%d\n", f(&any, &any));
}
