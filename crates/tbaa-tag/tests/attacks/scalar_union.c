// A union of scalars behind a pointer has no struct, and no tag unless elements have some.
// right:
// wrong: --elements
union Any { int i; float f; };
int printf(const char *, ...);
static void set(union Any *any, float value) { any->f = value; }
static int get(union Any *any) { return any->i; }
static __attribute__((noinline)) int f(union Any *a, union Any *b) {
    set(b, 2);
    int bits = get(a);
    set(b, 1);
    return bits == get(a);
}
int main(void) {
    union Any any = {0};
    printf("%d\n", f(&any, &any));
}
