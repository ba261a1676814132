// The same, in one function: it shows that its members overlap.
// right:
struct Int { int value; };
struct Float { float value; };
union Any { struct Int i; struct Float f; };
int printf(const char *, ...);
static __attribute__((noinline)) int f(union Any *a) {
    a->f.value = 2;
    int bits = a->i.value;
    a->f.value = 1;
    return bits == a->i.value;
}
int main(void) {
    union Any any = {{0}};
    printf("%d\n", f(&any));
}
